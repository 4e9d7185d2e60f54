import { createHash } from "node:crypto";
import type { Client } from "../../context/client.ts";
import type { FlowData } from "../../flow/data.ts";
import { start } from "../../flow/engine.ts";
import { factsOf } from "../../flow/facts.ts";
import { statesOf } from "../../flow/graph.ts";
import { enter } from "../../flow/judge.ts";
import { type FlowType, flowTypes, type StateName, stateNames } from "../../flow/names.ts";
import { plan } from "../../flow/plan.ts";
import { states } from "../../flow/states/index.ts";
import { claimFlow } from "../../flow/store.ts";
import { openSealed, ownerOf, requestContextOf } from "../../flow/stored-flow.ts";
import { write } from "../../flow/write.ts";
import { pageCookie } from "../../http/page/page-cookie.ts";
import { factsById, type UserFacts } from "../../identity/facts.ts";
import { randomToken } from "../../lib/random-token.ts";
import { sha256 } from "../../lib/sha256.ts";
import type { Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { issueSession } from "../../sessions/sessions.ts";
import type { BrowserCookie, HostFlow, StartedState } from "./host-calls.ts";
import { WishError } from "./wish-error.ts";

type Factor = FlowData["factors"][number];

const methods: readonly Factor["method"][] = [
  "password",
  "passcode",
  "passkey",
  "third_party",
  "registration",
  "totp",
  "security_key",
  "authenticator",
  "recovery_code",
];

/** The client of flows that are started at a state. */
const client: Client = {
  ip: "127.0.0.1",
  source: "127.0.0.1",
  userAgent: "Stile testing",
  language: "en",
  requestId: "testing",
  origin: null,
  deviceCookie: null,
  markCookie: null,
  embedding: "client",
};

/**
 * States that an action leads to and the plan does not name, by the state of the plan that they are reached from. A
 * state that is named here and in the plan may be either.
 */
const reachedFrom: Partial<Record<StateName, readonly StateName[]>> = {
  login_passkey: ["login_init"],
  login_method_chooser: ["login_init"],
  login_password: ["login_init"],
  passcode_confirmation: ["login_init"],
  mfa_otp_secret_creation: ["mfa_method_chooser"],
  mfa_security_key_creation: ["mfa_method_chooser"],
  onboarding_verify_passkey_attestation: ["onboarding_create_passkey", "mfa_method_chooser"],
  password_creation: ["credential_onboarding_chooser"],
  onboarding_create_passkey: ["credential_onboarding_chooser"],
  login_otp: ["login_security_key", "login_authenticator"],
  login_security_key: ["login_authenticator"],
};

/** States that no declared facts lead to, and what to do instead. */
const unstartable: Partial<Record<StateName, string>> = {
  thirdparty: "perform thirdparty_oauth, which creates the request to the provider",
  success: "use stile.session(user), which creates the session that this state issues",
  account_deleted: "delete the account in a profile flow",
  webauthn_credential_verification: "start at profile_init and perform webauthn_credential_create",
};

/**
 * Starts a flow in a state: the facts become the data of a real flow, the state is entered as the engine enters it, and
 * the answer is written under a claim like that of a step.
 *
 * @throws WishError with one line that says why the facts do not lead to the state
 */
export async function startAt(runtime: Runtime, wish: HostFlow): Promise<StartedState> {
  const state = stateOf(wish.state);
  const type = flowTypeOf(state, wish);
  const { tenant, database, platform } = runtime;
  const user = wish.userId === null ? null : await userFacts(runtime, wish.userId);
  const session = type === "profile" ? await sessionOf(runtime, wish.userId) : undefined;

  const started = await start(runtime, tenant, client, type, session ? { session: session.row } : {});
  if (!started.flowId) throw new WishError(`no flow was started: ${started.state.error?.code}`);
  const key = { tenantId: tenant.id, flowId: started.flowId, type };
  const claim = {
    id: platform.uuid(),
    tokenHash: sha256(started.state.csrf_token),
    instanceId: runtime.instanceId,
  };
  const flow = await claimFlow(database, key, claim, platform.clockShift(), null);
  if (!flow) throw new Error("the flow that was started could not be claimed");
  openSealed(runtime, key, flow);
  flow.user = user;
  const request = requestContextOf(runtime, tenant, client, flow, session?.row);
  const data = dataOf(wish, state, type, { user, now: flow.now, userId: flow.record.data.userId, session });
  const facts = factsOf(type, data, user);
  assertReached(state, plan({ type, data, facts, config: tenant.config }), type);

  const owner = await ownerOf(runtime, tenant, flow, session?.row);
  const record = { ...flow.record, state, data, history: [] };
  const judged = await enter(request, record, facts, { owner });
  const answer = await write(request, key, flow, judged, { claim, owner });
  if (!answer) throw new Error("the flow that was started could not be written");
  if (Object.keys(answer.state.actions).length === 0)
    throw new WishError(`${state} offers no action with these facts and settings`);
  const page = {
    flowId: key.flowId,
    token: answer.state.csrf_token,
    resume: answer.resume ?? "",
    codeVerifier: randomToken(platform),
  };
  const cookies = [await pageCookie(runtime, tenant, type, page), ...(session ? [session.cookie] : [])];
  return {
    flow: type,
    state: answer.state as StartedState["state"],
    cookies: cookies.map((line) => browserCookie(line, runtime.config.base_url)),
  };
}

function stateOf(name: string): StateName {
  const state = stateNames.find((one) => one === name);
  if (!state) throw new WishError(`${name} is not a state: ${stateNames.join(", ")}`);
  const instead = unstartable[state];
  if (instead) throw new WishError(`no flow starts at ${state}: ${instead}`);
  return state;
}

function flowTypeOf(state: StateName, { flow }: HostFlow): FlowType {
  const able = flowTypes.filter((type) => type !== "token_exchange" && statesOf(type).includes(state));
  if (flow === null) return able.includes("login") ? "login" : (able[0] ?? "login");
  if (!flowTypes.includes(flow)) throw new WishError(`${flow} is not a flow: ${flowTypes.join(", ")}`);
  if (!able.includes(flow))
    throw new WishError(`a ${flow} flow does not reach ${state}; these do: ${able.join(", ")}`);
  return flow;
}

async function userFacts({ database, tenant }: Runtime, userId: string): Promise<UserFacts> {
  const user = await factsById(database.read, tenant.id, userId);
  if (!user) throw new WishError(`there is no user ${userId}`);
  return user;
}

function dataOf(
  wish: HostFlow,
  state: StateName,
  type: FlowType,
  {
    user,
    now,
    session,
    userId,
  }: { user: UserFacts | null; now: Date; session: { row: Session } | undefined; userId: string | undefined },
): FlowData {
  const email = wish.email ?? user?.email ?? undefined;
  const username = wish.username ?? user?.username ?? undefined;
  const isNew = type === "registration";
  if (isNew && user) throw new WishError("a registration has no user yet: give email or username instead");
  const factors = wish.factors.map((method) => factorOf(method, now));
  const identifier =
    email !== undefined
      ? { kind: "email" as const, value: email }
      : username !== undefined
        ? { kind: "username" as const, value: username }
        : undefined;
  const account = isNew
    ? identifier && state !== "registration_init" && state !== "preflight"
      ? { userId: uuidFrom(identifier.value) }
      : {}
    : user
      ? { userId: user.userId }
      : {};
  const before: StateName[] = state === "preflight" ? [] : ["preflight"];
  const completed = wish.completed.map((name) => {
    const found = stateNames.find((one) => one === name);
    if (!found) throw new WishError(`${name} is not a state: ${stateNames.join(", ")}`);
    return found;
  });
  const recovering = state === "login_password_recovery" ? { recovering: true } : {};
  return {
    ...(state === "preflight"
      ? {}
      : {
          capabilities: {
            webauthn: wish.webauthn,
            conditionalMediation: wish.webauthn,
            platformAuthenticator: wish.webauthn,
          },
        }),
    ...(identifier ? { identifier } : {}),
    ...(email === undefined ? {} : { email }),
    ...(username === undefined ? {} : { username }),
    ...account,
    ...(session && userId ? { userId, sessionId: session.row.id } : {}),
    ...(isNew && state !== "passcode_confirmation" ? { emailVerified: true } : {}),
    ...(state === "passcode_confirmation" ? { passcode: passcodeOf(type, email, user) } : {}),
    ...(state === "onboarding_verify_passkey_attestation" ? { credentialKind: "passkey" as const } : {}),
    ...recovering,
    factors,
    completedStates: [...new Set([...before, ...completed])],
    pending: {},
  };
}

function passcodeOf(type: FlowType, email: string | undefined, user: UserFacts | null) {
  if (email === undefined)
    throw new WishError("passcode_confirmation needs an address: give email, or a user");
  const recipient = email;
  if (type === "registration") return { purpose: "email_verification" as const, recipient, decoy: false };
  // Like the flow of an address without an account: it mails a notice, and no code is accepted.
  return user
    ? { purpose: "login" as const, recipient, decoy: false }
    : { purpose: "login" as const, recipient, decoy: true, notice: "email_login_attempted" as const };
}

function factorOf(name: string, now: Date): Factor {
  const method = methods.find((one) => one === name);
  if (!method) throw new WishError(`${name} is not a factor: ${methods.join(", ")}`);
  return { method, at: now.toISOString() };
}

/** @throws WishError if the flow is elsewhere with these facts */
function assertReached(state: StateName, planned: StateName[], type: FlowType): void {
  const missing = states[state].needs.length > 0 && planned[0] === "preflight";
  const [head] = planned;
  if (head === state || (head && reachedFrom[state]?.includes(head) && !missing)) return;
  throw new WishError(
    `with these facts a ${type} is at ${head}, not at ${state}:${hint(state, head)} give the account, factors and completed states that lead there`,
  );
}

function hint(state: StateName, head: StateName | undefined): string {
  if (head === "login_init") return " its first factor is not proved (factors);";
  if (state === "login_otp") return " its account needs an authenticator app (totp: true);";
  if (state === "login_security_key") return " its account needs a security key;";
  return "";
}

/** A session of the owner of a profile flow, as its row and as a `Set-Cookie` line. */
async function sessionOf(runtime: Runtime, userId: string | null): Promise<{ row: Session; cookie: string }> {
  if (userId === null) throw new WishError("a profile flow needs its owner: give a user");
  return newSession(runtime, userId, ["password"]);
}

/** Issues a session of a user, by the engine's own code. */
export async function newSession(
  runtime: Runtime,
  userId: string,
  proved: readonly string[],
): Promise<{ row: Session; token: string; cookie: string }> {
  const { sessionCookie } = await import("../../http/session/session-cookie.ts");
  const { currentTime } = await import("../../database/current-time.ts");
  await userFacts(runtime, userId);
  const now = await currentTime(runtime);
  const { tenant } = runtime;
  const signal = new AbortController().signal;
  const factors = proved.map((method) => factorOf(method, now));
  const made = await issueSession(
    { runtime, tenant, client, now, signal },
    { userId, factors, amr: [], rememberMe: false },
  );
  await runtime.database.write.transaction(made.write);
  const { token } = made.issued;
  return { row: made.session, token, cookie: sessionCookie(tenant.config, token, undefined) };
}

/** A `Set-Cookie` line as a cookie for a browser. */
export function browserCookie(line: string, url: string): BrowserCookie {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  const [, site = "Lax"] = /; SameSite=(\w+)/.exec(line) ?? [];
  return { name, value, url, httpOnly: true, sameSite: site as BrowserCookie["sameSite"] };
}

/** The id of the account that a registration with this identifier will create; any UUID is possible. */
function uuidFrom(text: string): string {
  const hex = createHash("sha256").update(text).update(String(process.hrtime.bigint())).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
