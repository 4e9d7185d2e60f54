import type { z } from "zod";
import type { Account } from "../../account/account.ts";
import { canStillSignIn, type Removal } from "../../account/reachability.ts";
import { always, type Condition, circumstance, given, type Leaf } from "../../conditions/condition.ts";
import { fact } from "../../conditions/leaves.ts";
import {
  type Action,
  action,
  type Context,
  type Cost,
  type InputSchema,
  type NoInput,
  type View,
} from "../define.ts";
import type { ErrorCode } from "../errors.ts";
import { REAUTHENTICATE, type Target } from "../names.ts";
import type { Outcome } from "../outcome.ts";
import { stepUp } from "../step-up.ts";

/** View of a profile action: the account is present. */
export type ProfileView = View & { account: Account };

/** Context of a profile action. */
export type ProfileContext = Context & { account: Account };

interface ProfileActionDefinition<Input extends InputSchema, To extends Target, Code extends ErrorCode> {
  description: string;
  /** See `ActionDefinition`. */
  costs?: readonly Cost[];
  /** A function must handle a view without an account, which the generated reference uses. */
  input?: Input | ((view: View) => Input);
  /** See `ActionDefinition`. */
  impersonated?: boolean;
  /** Default: always. */
  when?: Condition<ProfileView>;
  to: readonly To[];
  errors?: readonly Code[];
  run(
    context: ProfileContext,
    input: z.output<Input>,
  ): Outcome<NoInfer<To>, NoInfer<Code>> | Promise<Outcome<NoInfer<To>, NoInfer<Code>>>;
}

/** Declares a profile action that requires only a session. */
export function profileAction<
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
>(definition: ProfileActionDefinition<Input, To, Code>): Action<NoInfer<Input>> {
  const { when = always, run, ...rest } = definition;
  return action<To, Input, Code>({
    ...rest,
    when: given(hasAccount, when),
    run: (context, input) => run(context as ProfileContext, input),
  });
}

/**
 * Declares a profile action that changes who can sign in to the account: it requires recent authentication first (OWASP
 * ASVS 5.0, 7.5.1), so that a stolen session cannot take the account over.
 */
export function sensitiveAction<
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
>({
  run,
  to,
  errors = [],
  canAlwaysReauthenticate = false,
  ...rest
}: ProfileActionDefinition<Input, To, Code> & {
  /** Whether every account that is offered it can reauthenticate. */
  canAlwaysReauthenticate?: boolean;
}): Action<NoInfer<Input>> {
  return profileAction<To | typeof REAUTHENTICATE, Input, Code | "flow_discontinuity_error">({
    ...rest,
    to: [...to, REAUTHENTICATE],
    errors: canAlwaysReauthenticate ? errors : [...errors, "flow_discontinuity_error"],
    // REAUTHENTICATE is declared above; TypeScript cannot derive that from the generic type.
    run: (context, input) =>
      context.fresh ? run(context, input) : (stepUp(context) as Outcome<never, "flow_discontinuity_error">),
  });
}

const hasAccount = circumstance<View>("known_account", ({ account }) => account !== null, {
  holds: "the account exists",
  fails: "the account does not exist",
});

/** What the conditions of an account judge, where they are judged again in the transaction that changes it. */
export type Owned = Pick<ProfileView, "account" | "config">;

/** That the owner can still sign in after a removal. @param what as a noun, with its article */
export const canDoWithout = (removal: Removal, what: string) =>
  circumstance<Owned>(
    `ways_in_without_${Object.keys(removal).join()}`,
    ({ account, config }) => canStillSignIn(account, config, removal),
    {
      holds: `the user can sign in without ${what}`,
      fails: `the user could not sign in without ${what}`,
    },
  );

/** That the account of the view has a method. */
export function owns(name: keyof Account["has"]): Leaf<Owned> {
  const { of, kind, holds, fails } = fact(name);
  return { of, kind, holds, fails, judge: ({ account }) => account.has[name] };
}
