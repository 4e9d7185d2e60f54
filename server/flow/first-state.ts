import { accountOf } from "../account/account.ts";
import type { Tenant } from "../config/tenant.ts";
import { currentTime } from "../database/current-time.ts";
import { factsById } from "../identity/facts.ts";
import type { Session } from "../objects/session.ts";
import type { ContextClass } from "../openid/authentication-context.ts";
import type { Runtime } from "../runtime.ts";
import { assumedCapabilities } from "./capabilities.ts";
import { type FlowData, type FlowRecord, flowData } from "./data.ts";
import { factsOf } from "./facts.ts";
import { beginsWithPreflight, type FlowType, isOfSession, type StateName } from "./names.ts";
import type { Reasons } from "./observed-step.ts";
import { nextState } from "./plan.ts";
import { show } from "./show.ts";
import { states } from "./states/index.ts";
import { type Owner, viewOf } from "./view.ts";
import type { FlowState } from "./wire.ts";

/** What decides the first state of a flow. */
export interface FirstRecord {
  /** Of the owner of a flow of a session. */
  session?: Session | undefined;
  codeChallenge?: string | undefined;
  frameOrigin?: string | undefined;
  /** What a consent flow asks. */
  authorization?: FlowData["authorization"];
  /** What a consent flow begins with that asks for the code of a device: the code, as far as it is known. */
  userCode?: string | undefined;
  classes?: readonly ContextClass[] | undefined;
  /** The accounts that the user of a login chooses from. */
  choice?: FlowData["choice"];
  /** The flow begins after `preflight`. */
  capabilities?: FlowData["capabilities"];
}

/** Builds the record that a flow begins with. Pure. @returns `passedOver`: the states that its plan has passed over */
export function firstRecord(
  tenant: Tenant,
  type: FlowType,
  id: string,
  {
    session,
    codeChallenge,
    frameOrigin,
    authorization,
    userCode,
    classes,
    choice,
    capabilities,
  }: FirstRecord,
): { record: FlowRecord; passedOver: Reasons } {
  const data = flowData.parse({
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
    ...(frameOrigin === undefined ? {} : { frameOrigin }),
    ...(classes === undefined ? {} : { classes }),
    ...(isOfSession(type) && session ? { userId: session.userId, sessionId: session.id } : {}),
    ...(choice && type === "login" ? { choice } : {}),
    ...(capabilities ? { capabilities, completedStates: ["preflight"] } : {}),
    ...(type === "consent" ? { authorization, ...(userCode ? { userCode } : {}) } : {}),
    // These flows start without `preflight`: by an identity provider, by an application.
    ...(beginsWithPreflight(type) ? {} : { capabilities: assumedCapabilities }),
  });
  const facts = factsOf(type, data, null);
  const { state, passedOver } = nextState({ type, data, facts, config: tenant.config });
  const record = { id, type, state, version: 1, data, history: [], payload: {}, secrets: {}, wanted: null };
  return { record, passedOver };
}

/**
 * Builds the state of a flow that is not started, for the page: the first one that asks the user something. It shows what
 * a browser with WebAuthn is offered. Nothing is written and the token is empty. A profile flow, whose first state is
 * about an account, begins with `preflight`; `firstAccountState` shows the account.
 *
 * @param choice the accounts that the user of a login chooses from, if an application asks for that
 */
export function firstState(tenant: Tenant, type: FlowType, choice?: FlowData["choice"]): FlowState {
  const begun = type === "profile" ? {} : { capabilities: assumedCapabilities, choice };
  const { record } = firstRecord(tenant, type, "", begun);
  return unstarted(tenant, record, null);
}

/**
 * The same for the account of a session. Reads only.
 *
 * @returns null if the account does not exist any more
 */
export async function firstAccountState(
  runtime: Runtime,
  tenant: Tenant,
  session: Session,
): Promise<FlowState | null> {
  const { read } = runtime.database;
  const [user, now] = await Promise.all([factsById(read, tenant.id, session.userId), currentTime(runtime)]);
  const account = user && (await accountOf(read, tenant, session.userId, now, runtime));
  if (!account) return null;
  const { record } = firstRecord(tenant, "profile", "", { session, capabilities: assumedCapabilities });
  return unstarted(tenant, record, user, { account, session, now });
}

/** The same for the request of an application to a user, or for the code of a device; null if the account does not exist any more. */
export async function firstConsentState(
  { database }: Runtime,
  tenant: Tenant,
  session: Session,
  asked: Pick<FirstRecord, "authorization" | "userCode">,
): Promise<FlowState | null> {
  const user = await factsById(database.read, tenant.id, session.userId);
  if (!user) return null;
  const { record } = firstRecord(tenant, "consent", "", { session, ...asked });
  return unstarted(tenant, record, user);
}

/** The states that a page may show of a flow that is not started. */
export function unstartedStates(tenant: Tenant, type: FlowType): StateName[] {
  // Of an application, or of a device whose code is not known yet.
  if (type === "consent") return ["device_code", "consent"];
  const names = [firstState(tenant, type).name as StateName];
  if (type === "profile") return [...names, "profile_init"];
  return mayChoose(tenant, type) ? [...names, "account_choice"] : names;
}

/** Whether a page may show accounts to choose from. */
const mayChoose = ({ config }: Tenant, type: FlowType): boolean =>
  type === "login" && config.openid.enabled && config.openid.account_choice;

/** Whether a page offers an action before a flow is started, besides the one that reports capabilities. */
export function mayBegin(tenant: Tenant, type: FlowType, action: string): boolean {
  const ofStates = (names: readonly StateName[]) =>
    names.some((name) => Object.hasOwn(states[name].actions, action));
  if (type === "consent") return ofStates(unstartedStates(tenant, type));
  const isOfChoice = mayChoose(tenant, type) && ofStates(["account_choice"]);
  return isOfChoice || Object.hasOwn(firstState(tenant, type).actions, action);
}

/** Whether an action is about the accounts that the user of a login chooses from. */
export const isOfChoice = (action: string): boolean => Object.hasOwn(states.account_choice.actions, action);

function unstarted(
  { config }: Tenant,
  record: FlowRecord,
  user: Parameters<typeof factsOf>[2],
  owner: Owner | null = null,
): FlowState {
  const view = viewOf(record, factsOf(record.type, record.data, user), config, owner);
  return show(record, view, states[record.state], null, "");
}
