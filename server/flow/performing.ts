import type { Write } from "#db/write";
import type { UserFacts } from "../identity/facts.ts";
import type { RequestContext } from "../runtime.ts";
import { findTrustedDevice, revokeStolenDevice } from "../sessions/trusted-devices.ts";
import type { ConflictName } from "./conflicts.ts";
import type { FlowData, FlowRecord } from "./data.ts";
import type { Action, Context, Entered, InputSchema, State } from "./define.ts";
import type { Facts } from "./facts.ts";
import { type ParsedInput, parseInput } from "./inputs.ts";
import { loginFailure } from "./login-failure.ts";
import { isOfSession, type StateName } from "./names.ts";
import type { Outcome } from "./outcome.ts";
import type { Owner } from "./view.ts";

/** What the device cookie of a request says of the browser. `replaced`: a copy of the cookie is in use. */
export type DeviceVerdict = "trusted" | "unknown" | "replaced";

/**
 * What a step takes from outside the engine: verdicts on what a client has sent, and what states prepare. All else that
 * decides a step is pure. A replay gives it what was recorded.
 */
export interface Performing {
  /** Validates an input. */
  parse(schema: InputSchema, input: Record<string, unknown>): ParsedInput;
  run(action: Action, context: Context, input: unknown, found: unknown): Outcome | Promise<Outcome>;
  /** Checks the device cookie against the account that the step has identified. */
  device(request: RequestContext, record: FlowRecord, outcome: Outcome): Promise<DeviceVerdict>;
  /** Prepares what a state shows. */
  enter(state: State, context: Context, found: unknown): Promise<Entered>;
  /** What is written where a factor of a blocked account was proved. */
  writesOfBlocked(context: Context, record: FlowRecord): Write[];
  /** What is written where a copy of a device cookie is in use. */
  writesOfReplaced(request: RequestContext, record: FlowRecord): Write[];
}

/** Performs steps of clients. */
export const performing: Performing = {
  parse: parseInput,
  run: (action, context, input, found) => action.run(context, input, found),
  device: presentedDevice,
  async enter(state, context, found) {
    const missing = state.needs.find((key) => (context.data as FlowData)[key] === undefined);
    if (missing) throw new Error(`${state.name} was entered without ${missing}.`);
    return (await state.enter?.(context, found)) ?? {};
  },
  writesOfBlocked(context, { data }) {
    const method = data.factors.at(-1)?.method ?? null;
    return [loginFailure(context, { reason: "account_blocked", method }, data.userId ?? null)];
  },
  writesOfReplaced: (request, { data }) => [revokeStolenDevice(request, data.userId ?? "")],
};

async function presentedDevice(
  request: RequestContext,
  { type, data }: FlowRecord,
  outcome: Outcome,
): Promise<DeviceVerdict> {
  const { runtime, client } = request;
  const cookie = client.deviceCookie;
  if (cookie === null || isOfSession(type) || outcome.kind === "reject") return "unknown";
  const userId = outcome.effects.data?.userId ?? data.userId;
  const factors = outcome.effects.data?.factors ?? data.factors;
  if (!userId || factors.length === 0) return "unknown";
  const trust = await findTrustedDevice(runtime.database.read, request, { cookie, userId });
  return trust.ok ? "trusted" : trust.reason;
}

/** What a step was decided by, as `Performing` and the database have given it. It holds values that clients sent. */
export interface StepTrace {
  /** The flow as the step has found it. */
  record: FlowRecord;
  now: Date;
  /** The account as it was read with the flow. */
  user: UserFacts | null;
  /** The facts that the step was judged by, if not those of `user`. */
  facts: Facts | null;
  /** Account and session of a flow of a session, before the step and after it. */
  owner: Owner | null;
  ownerAfter: Owner | null;
  /** The step had to wait for a budget, and was not judged. */
  isPostponed: boolean;
  /** The codes of malformed inputs. */
  malformed: (ParsedInput & { ok: false })["inputs"] | null;
  outcome: Outcome | null;
  device: DeviceVerdict;
  /** The states that were entered, with what they prepared. */
  entered: { state: StateName; by: Entered }[];
  /** The concurrent change that the step has met, and the account as it was read again. */
  conflict: { name: ConflictName; user: UserFacts | null } | null;
}

/** Returns the trace of a step that begins. */
export function newTrace(
  { record, now, user }: Pick<StepTrace, "record" | "now" | "user">,
  { owner = null, facts = null }: Partial<Pick<StepTrace, "owner" | "facts">> = {},
): StepTrace {
  return {
    record,
    now,
    user,
    facts,
    // A step replaces what its owner refers to.
    owner: owner && { ...owner },
    ownerAfter: null,
    isPostponed: false,
    malformed: null,
    outcome: null,
    device: "unknown",
    entered: [],
    conflict: null,
  };
}

/** Performs a step, and notes in its trace what it takes. */
export function tracing(trace: StepTrace): Performing {
  return {
    ...performing,
    parse(schema, input) {
      const parsed = performing.parse(schema, input);
      trace.malformed = parsed.ok ? null : parsed.inputs;
      return parsed;
    },
    async run(action, context, input, found) {
      trace.outcome = await performing.run(action, context, input, found);
      return trace.outcome;
    },
    async device(request, record, outcome) {
      trace.device = await performing.device(request, record, outcome);
      return trace.device;
    },
    async enter(state, context, found) {
      const by = await performing.enter(state, context, found);
      trace.entered.push({ state: state.name, by });
      return by;
    },
  };
}
