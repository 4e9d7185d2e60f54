import { accountOf } from "../account/account.ts";
import { ownerPayloadOf } from "../account/profile.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { Session } from "../objects/session.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Answer } from "./answer.ts";
import type { FlowRecord } from "./data.ts";
import { factsOf } from "./facts.ts";
import { isOfSession } from "./names.ts";
import { type Sealed, unseal } from "./sealed-payload.ts";
import { show } from "./show.ts";
import { states } from "./states/index.ts";
import type { FlowKey, StepFlow, StoredFlow } from "./store.ts";
import { type Owner, viewOf } from "./view.ts";

/** Time limit of a step until it is judged; shorter than the lifetime of its claim. */
export const JUDGE_TIMEOUT_MS = 8_000;

/** Decrypts the sealed members of a flow into its record. Returns what is not part of the record. */
export function openSealed(runtime: Runtime, key: FlowKey, flow: StoredFlow): Pick<Sealed, "device"> {
  const { secrets, wanted = null, ...rest } = unseal(runtime, key, flow.sealedPayload);
  const shown = flow.hidesSecrets ? {} : secrets;
  Object.assign(flow.record, { secrets: shown, wanted } satisfies Partial<FlowRecord>);
  return rest;
}

/** Shows the state of a flow as it is stored. */
export async function answerOf(
  { database }: Pick<Runtime, "database">,
  tenant: Tenant,
  flow: StoredFlow,
  token: string,
  owner: Owner | null = null,
): Promise<Answer> {
  const { record, error } = flow;
  const { userId } = record.data;
  const view = viewOf(record, factsOf(record.type, record.data, flow.user), tenant.config, owner);
  const state = show(record, view, states[record.state], error, token);
  const showsUser = states[record.state].showsUser && userId !== undefined;
  const user = showsUser ? await ownerPayloadOf(database.read, tenant, userId) : {};
  return {
    state: { ...state, payload: { ...state.payload, ...user } },
    version: record.version,
    flowId: record.id,
  };
}

/** Whether the session may use the flow: one of a session belongs to its user, the others to no user. */
export function belongsTo({ record: { type, data } }: StoredFlow, session: Session | undefined): boolean {
  return !isOfSession(type) || (session !== undefined && session.userId === data.userId);
}

/** Reads the account and session of a flow that belongs to a user; null for other flows. */
export async function ownerOf(
  runtime: Runtime,
  tenant: Tenant,
  { record, now }: StoredFlow,
  session: Session | undefined,
): Promise<Owner | null> {
  if (!isOfSession(record.type) || !session) return null;
  return {
    account: await accountOf(runtime.database.read, tenant, session.userId, now, runtime),
    session,
    now,
  };
}

/**
 * Returns the context in which a flow is judged.
 *
 * @param signal the time limit for that
 */
export function requestContextOf(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  flow: StepFlow,
  session?: Session,
  signal = AbortSignal.timeout(JUDGE_TIMEOUT_MS),
): RequestContext {
  const { record, now, hasStoredWebhooks } = flow;
  const flowId = record.id;
  return { runtime, tenant, client, now, signal, flowId, hasStoredWebhooks, ...(session ? { session } : {}) };
}
