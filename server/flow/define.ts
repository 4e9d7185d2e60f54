import { z } from "zod";
import type { ReadOnly } from "#db/client";
import type { Part } from "#db/part";
import type { Write } from "#db/write";
import type { Account } from "../account/account.ts";
import { all, always, type Condition, circumstance } from "../conditions/condition.ts";
import { flowIs } from "../conditions/leaves.ts";
import type { Config } from "../config/schema.ts";
import type { CookieChanges } from "../context/client.ts";
import type { IssuedSession, Session } from "../objects/session.ts";
import type { Job, RequestContext } from "../runtime.ts";
import type { DataKey, DataPatch, FlowData } from "./data.ts";
import type { ErrorCode, StepError } from "./errors.ts";
import type { Facts } from "./facts.ts";
import { type FlowType, flowTypes, type StateName, type Target } from "./names.ts";
import { go, type Outcome } from "./outcome.ts";
import type { ImpersonationPayload } from "./wire.ts";

/** Input of guards and descriptors: data only, nothing asynchronous. */
export interface View {
  /** The account as its owner sees it; profile flows only. */
  account: Account | null;
  /** Whether the user authenticated within `session.step_up_after`; profile flows only. */
  fresh: boolean;
  /** The operator who acts in the session as the user; null for the user, and in flows of no session. */
  impersonation: ImpersonationPayload | null;
  type: FlowType;
  state: StateName;
  data: FlowData;
  facts: Facts;
  config: Config;
  /** The state that `back` leads to; null where there is none. */
  previous: StateName | null;
}

/** Context of an action or an `enter`; the data that its state needs is present. */
export type Context<Needs extends DataKey = never> = Omit<View, "data"> & {
  flowId: string;
  request: RequestContext;
  /** Read-only: writes are returned, and run in one transaction at the end of the step. */
  db: ReadOnly;
  data: FlowData & { [Key in Needs]-?: NonNullable<FlowData[Key]> };
};

/** Result of entering a state. An error does not prevent entering; it is shown with the state. */
export interface Entered {
  payload?: Record<string, unknown>;
  /** Secret members of the payload: stored sealed, and dropped by the next step. */
  secrets?: Record<string, unknown>;
  /** Members of the payload of this answer alone: never stored, so no later answer contains them. */
  once?: Record<string, unknown>;
  /** Changes of the flow's data. */
  data?: DataPatch;
  cookieChanges?: CookieChanges;
  writes?: Write[];
  jobs?: Job[];
  error?: StepError;
  session?: IssuedSession;
  /** The id of the session that an authorization code passes on, in place of `session`. */
  passedSessionId?: string;
  /** The methods that have signed the user in, and whether this created the account; `success` only. */
  signIn?: { methods: readonly string[]; isNewAccount: boolean };
  /** The row of `session`, if it replaces the session of the request; profile flows only. */
  replacement?: Session;
}

export type InputSchema = z.ZodObject;

const noInput = z.strictObject({});

export type NoInput = typeof noInput;

/** What an action asks the database for in the statement that claims its flow, so that it takes no round trip of its own. */
export interface Question<Found> {
  /** `isAdmitted` is the condition of what they write. */
  parts: readonly Part[];
  /** @param returned the values of the parts, by their names */
  found(returned: object): Found;
}

/** What a question may depend on: the flow is not read yet. */
export type Asking = Pick<RequestContext, "runtime" | "tenant" | "client"> & {
  flowId: string;
  /**
   * The flow as this process has saved it last, in which the action is offered, and the time by the database's clock, within
   * milliseconds; null if another process has saved it, or if it is not stored yet.
   */
  known: { view: View; now: Date } | null;
};

/** What the question of a state may depend on: the flow as a choice will have changed it, with the data that the state needs. */
export type AskingToEnter<Needs extends DataKey = never> = Pick<
  RequestContext,
  "runtime" | "tenant" | "client" | "now"
> &
  Pick<Context<Needs>, "flowId" | "type" | "data" | "facts" | "config">;

/** What an action costs at most beyond the step itself: a durable write, a mail, the hash of a password. */
export type Cost = "write" | "mail" | "hash";

/** Where a flow goes on, and how its data changes before. */
export interface Choice {
  to: StateName;
  data: DataPatch;
}

/** An action as the tables and the engine handle it; only the type of its input is kept. */
export interface Action<Input extends InputSchema = InputSchema> {
  description: string;
  costs: readonly Cost[];
  input: (view: View) => Input;
  when: Condition<View>;
  /** The types of flow that may offer it. */
  flows: readonly FlowType[];
  to: readonly Target[];
  errors: readonly ErrorCode[];
  /** The factor that it tries to prove, as failures in the audit log name it; null if it is no try to sign in. */
  proves: (view: View) => string | null;
  /** Other names under which it is offered, for published clients that know only those. */
  aliases: readonly string[];
  /** Whether it is offered to an operator who acts as the user, too. */
  impersonated: boolean;
  /** Null: nothing. The input is as the client sent it; no question is asked for one that is malformed. */
  asks: ((asking: Asking, input: Record<string, unknown>) => Question<unknown> | null) | null;
  /** Where it leads, if all that it does is to choose that; null if it does more. */
  chooses: ((view: View) => Choice) | null;
  /** @param found what its question has found; null if it asked none */
  run(context: Context, input: unknown, found: unknown): Outcome | Promise<Outcome>;
}

/**
 * When a state is entered again for a new payload, because the shown one has expired or is consumed. `always`: by
 * `current` and after a rejected attempt; `on_request`: only by `current`, so a rejected attempt leaves no payload;
 * `never`: only if an action asks for it.
 */
export type Renewal = "always" | "on_request" | "never";

export interface State<Actions extends Record<string, Action> = Record<string, Action>> {
  name: StateName;
  needs: readonly DataKey[];
  /** Prepares what the state shows: sends a code, creates a challenge. Idempotent. */
  enter?: (context: Context, found: unknown) => Promise<Entered>;
  /** What `enter` asks the database for, where a choice leads to the state; it asks by itself what was not asked. */
  asks?: (asking: AskingToEnter) => Question<unknown>;
  /** Payload derived from the current account; not stored. Pure. */
  shows?: (view: View) => Record<string, unknown>;
  renews: Renewal;
  /** Whether the payload has the member `user`, the account as it is now; not stored. */
  showsUser: boolean;
  actions: Actions;
}

interface ActionDefinition<
  Needs extends DataKey,
  Input extends InputSchema,
  To extends Target,
  Code extends ErrorCode,
  Found,
> {
  /** One sentence for developers of clients. */
  description: string;
  /** Charged to the budgets of the account and the source. Default: nothing beyond the step itself. */
  costs?: readonly Cost[];
  /** A schema, or a function of the view where configuration shapes it. Default: no input. */
  input?: Input | ((view: View) => Input);
  /** Whether it is offered; checked again when it is called. Default: always. */
  when?: Condition<View>;
  /** The types of flow that may offer it. Default: every one that reaches its state. */
  flows?: readonly FlowType[];
  /** Every target it may return. */
  to: readonly To[];
  /** Every error it may return itself. */
  errors?: readonly Code[];
  /** The factor that it tries to prove. Default: none. */
  proves?: (view: View) => string | null;
  aliases?: readonly string[];
  /**
   * Whether it is offered to an operator who acts as the user, too: only what leads to no access to the account, and decides
   * nothing for its user. Default: no.
   */
  impersonated?: boolean;
  /** What it asks the database for, whatever state offers it. Default: nothing. */
  asks?: (asking: Asking, input: Record<string, unknown>) => Question<Found> | null;
  // NoInfer: otherwise TypeScript infers both from the body, and checks nothing.
  run(
    context: Context<Needs>,
    input: z.output<Input>,
    found: NoInfer<Found> | null,
  ): Outcome<NoInfer<To>, NoInfer<Code>> | Promise<Outcome<NoInfer<To>, NoInfer<Code>>>;
}

/** Declares an action, for a state that needs `Needs`. */
export type ActionBuilder<Needs extends DataKey> = <
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
  Found = never,
>(
  definition: ActionDefinition<Needs, Input, To, Code, Found>,
) => Action<NoInfer<Input>>;

/** Declares an action that does not depend on the data of one state. */
export const action: ActionBuilder<never> = ({
  input = noInput as never,
  when = always,
  flows = flowTypes,
  errors = [],
  aliases = [],
  proves = () => null,
  costs = [],
  asks = null,
  impersonated = false,
  ...rest
}) =>
  ({
    ...rest,
    costs,
    asks,
    chooses: null,
    flows,
    when: flows === flowTypes ? when : all(flowIs(...flows), when),
    errors,
    aliases,
    impersonated,
    proves,
    input: typeof input === "function" ? input : () => input,
  }) as never;

const isUser = circumstance<View>("own_session", ({ impersonation }) => impersonation === null, {
  holds: "the user acts",
  fails: "an operator acts as the user",
});

/** The condition on which a flow offers an action to the party that acts in it. */
export const offeredWhen = (
  { when, impersonated }: Pick<Action, "when" | "impersonated">,
  { impersonation }: Pick<View, "impersonation">,
): Condition<View> => (impersonation === null || impersonated ? when : isUser);

/**
 * Declares an action that does nothing but choose the state where the flow goes on, which is known before the flow is
 * claimed: what that state asks for is asked together with the claim, and a state that prepares nothing is entered without one.
 *
 * @param definition `costs`: those of entering the state; `data`: how the choice changes the data. Default: not at all
 */
export function choice({
  to,
  data = () => ({}),
  ...definition
}: Pick<
  ActionDefinition<never, NoInput, never, never, never>,
  "description" | "costs" | "when" | "flows" | "impersonated"
> & {
  to: StateName;
  data?: (view: View) => DataPatch;
}): Action<NoInput> {
  const run = (context: View) => go(to, { data: data(context) });
  return { ...action({ ...definition, to: [to], run }), chooses: (view) => ({ to, data: data(view) }) };
}

/**
 * Declares a state.
 *
 * @param definition `needs` lists the data that must be present before it is entered, and narrows the data of
 *   its actions; `actions` receives the builder that applies this
 */
export function state<
  Actions extends Record<string, Action>,
  const Needs extends DataKey = never,
  Found = never,
>(definition: {
  name: StateName;
  needs?: readonly Needs[];
  asks?: (asking: AskingToEnter<Needs>) => Question<Found>;
  enter?: (context: Context<Needs>, found: NoInfer<Found> | null) => Promise<Entered>;
  renews?: Renewal;
  shows?: (view: View) => Record<string, unknown>;
  showsUser?: boolean;
  actions: (action: ActionBuilder<Needs>) => Actions;
}): State<Actions> {
  const { enter, asks, shows, needs = [], renews = "never", showsUser = false } = definition;
  return {
    name: definition.name,
    needs,
    renews,
    showsUser,
    actions: definition.actions(action as unknown as ActionBuilder<Needs>),
    ...(shows ? { shows } : {}),
    ...(enter ? { enter: enter as unknown as NonNullable<State["enter"]> } : {}),
    ...(asks ? { asks: asks as unknown as NonNullable<State["asks"]> } : {}),
  };
}
