import { createHash, randomBytes, randomInt, randomUUID } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { deliver } from "./deliveries.ts";
import { sendCode } from "./mails.ts";
import {
  type Assertion,
  challengeOf,
  codeHash,
  equal,
  isSealedChallenge,
  isValidAssertion,
  must,
  seal,
  secret,
  sha256,
  signJwt,
  totpStep,
} from "./proofs.ts";
import type { Bare } from "./settings.ts";
import { claims, others, saves } from "./statements.ts";

/** The flows of the hand-made server: those of Stile, step by step, for the states that the benchmark passes. */

/** Its answer: a state, and a cookie if the flow signed in or went to the provider. */
export interface Shown {
  body: object;
  cookie?: string;
}

/** What a claim returns: the flow, its user, and what the step reads. */
interface Row extends Record<string, unknown> {
  type: string;
  data: { address?: string };
  history: unknown[];
  user_id: string | null;
  email: string | null;
  has_totp: boolean | null;
}

/** What a step writes, and what it shows. */
interface Written {
  state: string;
  save: keyof typeof saves;
  /** Parameters of the save's own parts. */
  values?: Record<string, unknown>;
  data?: Row["data"];
  payload?: object;
  userId?: string | null;
  cookie?: string;
  /** What follows the commit. */
  afterwards?: () => void;
  /** The method that signed in, of a flow that ends in a session. */
  method?: string;
}

/** What the steps of the benchmark enter. */
interface Input {
  email: string;
  password: string;
  new_password: string;
  code: string;
  otp_code: string;
  token: string;
  webauthn_conditional_mediation_available: boolean;
  assertion_response: Assertion;
}

/** An action: what it reads with the claim, and what it decides. */
interface Action {
  claim: keyof typeof claims;
  /** Parameters of the claim, beside the input. */
  values?(input: Input): Record<string, unknown>;
  judge(bare: Bare, row: Row, input: Input, flowId: string): Written | Promise<Written>;
}

/** Who sends a request. */
interface Sender {
  source: string;
  userAgent: string;
}

const end = (save: Written["save"], method: string, written: Partial<Written>): Written => ({
  ...written,
  save,
  method,
  state: "success",
});

const actions: Record<string, Action> = {
  register_client_capabilities: {
    claim: "nothing",
    judge(bare, { type }, { webauthn_conditional_mediation_available }) {
      const state = type === "registration" ? "registration_init" : "login_init";
      if (!webauthn_conditional_mediation_available) return { state, save: "nothing" };
      const challenge = secret();
      return {
        state,
        save: "challenge",
        values: { challengeId: randomUUID(), challenge },
        payload: requestOptions(bare, challenge),
      };
    },
  },
  remember_me: { claim: "nothing", judge: () => ({ state: "login_init", save: "nothing" }) },
  continue_with_login_identifier: {
    claim: "address",
    judge: (_, { user_id: userId, address }) => ({
      state: "login_method_chooser",
      save: "nothing",
      userId,
      data: { address: String(address) },
    }),
  },
  continue_to_password_login: {
    claim: "nothing",
    judge: (_, { user_id: userId, data }) => ({ state: "login_password", save: "nothing", userId, data }),
  },
  continue_to_passcode_confirmation: {
    claim: "nothing",
    judge: (bare, { user_id, data }, _, flowId) => mailCode(bare, flowId, user_id, data.address ?? ""),
  },
  register_login_identifier: {
    claim: "address",
    judge: (bare, { user_id }, { email }, flowId) => mailCode(bare, flowId, user_id, email),
  },
  password_login: {
    claim: "password",
    async judge(_, { user_id: userId, hash: stored, has_totp, data }, { password }) {
      must(await verify(String(stored), password));
      return has_totp
        ? { state: "login_otp", save: "firstFactor", userId, data }
        : end("endByPassword", "pwd", { userId });
    },
  },
  otp_code_validate: {
    claim: "totp",
    judge({ totp }, { user_id: userId, last_step, data }, { otp_code }) {
      const step = totpStep(totp, otp_code);
      must(step !== null && step > Number(last_step));
      return { state: "device_trust", save: "secondFactor", values: { step }, userId, data };
    },
  },
  skip: { claim: "nothing", judge: (_, { user_id: userId }) => end("end", "otp", { userId }) },
  verify_passcode: {
    claim: "passcode",
    judge(_, { type, user_id: userId, data, code_hash }, { code }, flowId) {
      must(equal(codeHash(flowId, code), code_hash as Buffer | null));
      return type === "registration"
        ? { state: "password_creation", save: "codeTaken", data }
        : end("endByCode", "otp", { userId });
    },
  },
  register_password: {
    claim: "nothing",
    async judge({ hash: { memory, passes } }, { data: { address } }, { new_password }) {
      const made = await hash(new_password, { memoryCost: memory, timeCost: passes, parallelism: 1 });
      return end("endByRegistration", "pwd", { userId: randomUUID(), values: { address, hash: made } });
    },
  },
  webauthn_verify_assertion_response: {
    claim: "passkey",
    values({ assertion_response: given }) {
      const challenge = challengeOf(given);
      return { challenge, challengeHash: sha256(challenge), credential: given.id };
    },
    judge({ origin }, row, { assertion_response: given }) {
      const { public_key, challenge, user_handle, user_id: userId } = row;
      must(!row.is_sealed || isSealedChallenge(String(challenge)));
      must(given.response.userHandle === (user_handle as Buffer | null)?.toString("base64url"));
      const expected = { challenge: String(challenge), origin, publicKey: public_key as Buffer };
      must(isValidAssertion(given, expected));
      return end("endByPasskey", "hwk", { userId, values: { credential: given.id } });
    },
  },
  thirdparty_oauth: {
    claim: "nothing",
    judge({ provider, origin }) {
      const [state, nonce, verifier] = [secret(), secret(), secret()];
      const asked = new URLSearchParams({
        response_type: "code",
        client_id: "bench",
        scope: "openid email profile",
        state,
        nonce,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      });
      const sealed = seal(JSON.stringify({ nonce, verifier }));
      return {
        state: "thirdparty",
        save: "provider",
        values: { stateHash: sha256(state), sealed, redirectTo: origin },
        payload: { redirect_url: `${provider}/authorize?${asked}` },
        cookie: `state=${state}; HttpOnly`,
      };
    },
  },
  exchange_token: {
    claim: "exchange",
    values: ({ token }) => ({ exchangeHash: sha256(token) }),
    judge(_, { user_id: userId, sealed }) {
      must(Boolean(sealed));
      return end("end", "fed", { userId });
    },
  },
};

const instance = randomUUID();

function mailCode(bare: Bare, flowId: string, userId: string | null, address: string): Written {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  const mail = { to: address, code };
  return {
    state: "passcode_confirmation",
    save: "code",
    values: { codeHash: codeHash(flowId, code), mail },
    userId,
    data: { address },
    afterwards: () => void sendCode(bare, flowId, mail),
  };
}

const flowToken = () => randomBytes(24).toString("base64url");

/** What a browser asks a passkey for. */
export const requestOptions = ({ origin }: Bare, challenge: string) => ({
  request_options: {
    publicKey: { challenge, rpId: new URL(origin).hostname, userVerification: "preferred" },
  },
});

/** Starts a flow. */
export async function startFlow({ query, tenantId: tenant }: Bare, type: string): Promise<Shown> {
  const [flow, token] = [randomUUID(), flowToken()];
  const values = { tenant, flow, type, token: sha256(token), resume: sha256(secret()), data: {} };
  await query(others.start, values);
  return { body: shown(flow, type, "preflight", token, {}) };
}

/** Performs a step of a flow that is stored. */
export function stepFlow(
  bare: Bare,
  called: { type: string; action: string; flowId: string },
  { csrf_token, input_data }: { csrf_token: string; input_data: Input },
  sender: Sender,
): Promise<Shown> {
  return perform(bare, "stored", called, input_data, { ...sender, token: sha256(csrf_token) });
}

/** Begins a flow with its first action, which stores it. */
export function beginFlow(
  bare: Bare,
  type: string,
  { action, input }: { action: string; input: Input },
  sender: Sender,
): Promise<Shown> {
  const called = { type, action, flowId: randomUUID() };
  return perform(bare, "begun", called, input, { ...sender, resume: sha256(secret()) });
}

/**
 * Performs one step: claims, judges, writes.
 *
 * @param sender with the digest of the token that claims the flow, or of the secret that resumes a flow that begins
 */
async function perform(
  bare: Bare,
  flow: "stored" | "begun",
  { type, action, flowId }: { type: string; action: string; flowId: string },
  input: Input,
  sender: Sender & { token?: Buffer; resume?: Buffer },
): Promise<Shown> {
  const { claim: reading, values: read, judge } = actions[action] ?? {};
  if (!reading || !judge) throw new Error(`no action ${action}`);
  const claimed = { ...sender, claim: randomUUID(), instance, tenant: bare.tenantId, flow: flowId, type };
  const values = { ...input, ...read?.(input), ...claimed };
  const [row] = await bare.query<Row>(claims[reading][flow], values, "claim");
  must(row !== undefined);
  const written = await judge(bare, row, input, flowId);
  const { state, save, data = {}, payload = {}, userId = null, cookie, method } = written;

  const [session, event, nextToken] = [method ? randomUUID() : null, randomUUID(), flowToken()];
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiration = issuedAt + 43_200;
  const about = method
    ? {
        ...payload,
        claims: { subject: userId, session_id: session, issued_at: issuedAt, expiration, amr: [method] },
        user: { user_id: userId, email: row.email },
      }
    : payload;
  const { source: ip_address, userAgent: user_agent } = sender;
  const eventData = { user_id: userId, email: row.email, ip_address, user_agent };
  const [saved] = await bare.query<{ deliveries?: { id: string; callback: string }[] | null }>(
    saves[save][flow],
    {
      ...claimed,
      state,
      nextToken: sha256(nextToken),
      data,
      history: JSON.stringify([...row.history, { state }]),
      payload: about,
      user: userId,
      session,
      factors: JSON.stringify([{ method, at: new Date() }]),
      methods: [method],
      event,
      eventData,
      ...written.values,
    },
  );
  must(saved !== undefined);
  written.afterwards?.();
  if (saved.deliveries)
    void deliver(bare, saved.deliveries, { id: event, name: "user.login", data: eventData });
  const body = shown(flowId, type, state, nextToken, about);
  if (!method) return cookie ? { body, cookie } : { body };
  const jwt = { sub: userId, session_id: session, amr: [method], iat: issuedAt, exp: expiration };
  return { body, cookie: `service=${signJwt(bare, jwt)}; HttpOnly` };
}

/** The actions of a state, as addresses. All of them are offered: who drives the server knows what comes next. */
function shown(id: string, type: string, name: string, csrf_token: string, payload: object): object {
  const offered = offers[name] ?? [];
  return {
    name,
    status: 200,
    payload,
    csrf_token,
    actions: Object.fromEntries(
      offered.map((action) => [
        action,
        { action, href: `/${type}?action=${action}%40${id}`, description: "Go on.", inputs: {} },
      ]),
    ),
    links: null,
  };
}

const offers: Record<string, string[]> = {
  preflight: ["register_client_capabilities"],
  login_init: [
    "continue_with_login_identifier",
    "webauthn_verify_assertion_response",
    "thirdparty_oauth",
    "remember_me",
  ],
  login_method_chooser: ["continue_to_password_login", "continue_to_passcode_confirmation"],
  login_password: ["password_login"],
  login_otp: ["otp_code_validate"],
  device_trust: ["skip"],
  passcode_confirmation: ["verify_passcode"],
  registration_init: ["register_login_identifier"],
  password_creation: ["register_password"],
  thirdparty: ["exchange_token"],
};
