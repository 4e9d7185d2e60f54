import type { Action } from "./define.ts";
import type { States } from "./states/index.ts";

/** The names of the flow protocol, derived from the declarations; for `import type`. */

export type { MethodName } from "../methods/index.ts";
export type { ErrorCode } from "./errors.ts";
export type { StateName } from "./names.ts";

type ActionsOf<State extends keyof States> = States[State]["actions"];

type EachKey<Member> = Member extends unknown ? keyof Member & string : never;

type EachValue<Member> = Member extends unknown ? Member[keyof Member] : never;

/** Every action of every state. */
export type ActionName = EachKey<ActionsOf<keyof States>>;

type InputsOf<Member> = Member extends Action<infer Input> ? Input["shape"] : never;

type OtherStates = Exclude<keyof States, "profile_init">;

/** The actions of the account page alone. The name of one is an alias in another state. */
export type AccountAction = Exclude<
  EachKey<ActionsOf<"profile_init">>,
  EachKey<ActionsOf<OtherStates>> | "username_create"
>;

/** The inputs of the account page alone. */
export type AccountInput = Exclude<
  EachKey<InputsOf<EachValue<ActionsOf<"profile_init">>>>,
  EachKey<InputsOf<EachValue<ActionsOf<OtherStates>>>>
>;

/** Every input of every action, hidden ones included. */
export type InputName = EachKey<InputsOf<EachValue<ActionsOf<keyof States>>>>;
