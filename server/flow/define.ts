import { z } from "zod";
import type { ReadOnly } from "#db/client";
import type { Write } from "#db/write";
import type { Account } from "../account/account.ts";
import type { CookieChanges } from "../client.ts";
import type { Config } from "../config/schema.ts";
import type { Job, RequestContext } from "../runtime.ts";
import type { IssuedSession } from "../sessions/session.ts";
import type { DataKey, DataPatch, FlowData } from "./data.ts";
import type { ErrorCode, Problem } from "./errors.ts";
import type { Facts } from "./facts.ts";
import type { FlowType, StateName, Target } from "./names.ts";
import type { Outcome } from "./outcome.ts";

/** What guards and descriptors may look at: data only, nothing asynchronous. */
export interface View {
  /** The account as its owner sees it; in profile flows alone. */
  account: Account | null;
  /** Whether the last proof of who this is lies less than `session.step_up_after` back; profile flows only. */
  fresh: boolean;
  type: FlowType;
  state: StateName;
  data: FlowData;
  facts: Facts;
  config: Config;
  canGoBack: boolean;
}

/** What an action or an `enter` works with; the data that its state needs is there. */
export type Context<Needs extends DataKey = never> = Omit<View, "data"> & {
  flowId: string;
  request: RequestContext;
  /** Reads only: writes are returned, and happen together at the end of the step. */
  db: ReadOnly;
  data: FlowData & { [Key in Needs]-?: NonNullable<FlowData[Key]> };
};

/** What entering a state made. It never keeps the state from being entered; a problem is shown with it. */
export interface Entered {
  payload?: Record<string, unknown>;
  /** Members of the payload that are secrets: they rest sealed, and are gone with the next step. */
  secrets?: Record<string, unknown>;
  /** What the flow has to remember of what was made. */
  data?: DataPatch;
  cookieChanges?: CookieChanges;
  writes?: Write[];
  jobs?: Job[];
  problem?: Problem;
  session?: IssuedSession;
  /** Completes the payload once the step's writes have been made, inside their transaction. */
  settle?: (tx: Parameters<Write>[0]) => Promise<Record<string, unknown>>;
}

export type InputSchema = z.ZodObject;

const noInput = z.strictObject({});

export type NoInput = typeof noInput;

/** An action as tables and the engine handle it: all types but its input's are erased. */
export interface Action<Input extends InputSchema = InputSchema> {
  description: string;
  input: (view: View) => Input;
  when: (view: View) => boolean;
  to: readonly Target[];
  errors: readonly ErrorCode[];
  /** Other names under which older clients call it. */
  aliases: readonly string[];
  run(context: Context, input: unknown): Outcome | Promise<Outcome>;
}

export interface State<Actions extends Record<string, Action> = Record<string, Action>> {
  name: StateName;
  needs: readonly DataKey[];
  /** Idempotent: what it ensures is there already when it is there already. */
  enter?: (context: Context) => Promise<Entered>;
  /** What is shown of the account as it is at that moment, and rests nowhere else. Pure. */
  shows?: (view: View) => Record<string, unknown>;
  /** What `enter` makes can run out while the state is shown, so a look at the state makes it again. */
  renews: boolean;
  actions: Actions;
}

interface ActionDefinition<
  Needs extends DataKey,
  Input extends InputSchema,
  To extends Target,
  Code extends ErrorCode,
> {
  /** One sentence for the people who build clients. */
  description: string;
  /** What it takes: a schema, or a function of the view where configuration shapes it. Default: nothing. */
  input?: Input | ((view: View) => Input);
  /** Whether it is offered; asked again when it is called. Default: always. */
  when?: (view: View) => boolean;
  /** Every place it may lead to. */
  to: readonly To[];
  /** Every refusal it may give of its own accord. */
  errors?: readonly Code[];
  aliases?: readonly string[];
  // NoInfer: otherwise TypeScript widens both from what the body returns, and checks nothing.
  run(
    context: Context<Needs>,
    input: z.output<Input>,
  ): Outcome<NoInfer<To>, NoInfer<Code>> | Promise<Outcome<NoInfer<To>, NoInfer<Code>>>;
}

/** Declares an action, for a state that needs `Needs`. */
export type ActionBuilder<Needs extends DataKey> = <
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
>(
  definition: ActionDefinition<Needs, Input, To, Code>,
) => Action<NoInfer<Input>>;

/** Declares an action that does not depend on the data of one state. */
export const action: ActionBuilder<never> = ({
  input = noInput as never,
  when = () => true,
  errors = [],
  aliases = [],
  ...rest
}) =>
  ({
    ...rest,
    when,
    errors,
    aliases,
    input: typeof input === "function" ? input : () => input,
  }) as never;

/**
 * Declares a state.
 *
 * @param definition `needs` names the data that must be known before it is entered, and narrows what its actions
 *   see; `actions` is given the builder that knows this
 */
export function state<
  Actions extends Record<string, Action>,
  const Needs extends DataKey = never,
>(definition: {
  name: StateName;
  needs?: readonly Needs[];
  enter?: (context: Context<Needs>) => Promise<Entered>;
  renews?: boolean;
  shows?: (view: View) => Record<string, unknown>;
  actions: (action: ActionBuilder<Needs>) => Actions;
}): State<Actions> {
  const { enter, shows, needs = [], renews = false } = definition;
  return {
    name: definition.name,
    needs,
    renews,
    actions: definition.actions(action as unknown as ActionBuilder<Needs>),
    ...(shows ? { shows } : {}),
    ...(enter ? { enter: enter as unknown as NonNullable<State["enter"]> } : {}),
  };
}
