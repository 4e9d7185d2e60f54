import type { z } from "zod";
import type { Account } from "../../account/account.ts";
import { type Action, action, type Context, type InputSchema, type NoInput, type View } from "../define.ts";
import type { ErrorCode } from "../errors.ts";
import { PROOF, type Target } from "../names.ts";
import type { Outcome } from "../outcome.ts";
import { stepUp } from "../step-up.ts";

/** What guards of the profile look at: the account is there. */
export type OwnView = View & { account: Account };

/** What actions of the profile work with. */
export type OwnContext = Context & { account: Account };

interface OwnActionDefinition<Input extends InputSchema, To extends Target, Code extends ErrorCode> {
  description: string;
  /** A function of the view has to bear an account that is not there, as in the reference that is made of it. */
  input?: Input | ((view: View) => Input);
  /** Default: whenever the account is there. */
  when?: (view: OwnView) => boolean;
  to: readonly To[];
  errors?: readonly Code[];
  run(
    context: OwnContext,
    input: z.output<Input>,
  ): Outcome<NoInfer<To>, NoInfer<Code>> | Promise<Outcome<NoInfer<To>, NoInfer<Code>>>;
}

/** Declares an action of the profile that a session alone allows. */
export function ownAction<
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
>(definition: OwnActionDefinition<Input, To, Code>): Action<NoInfer<Input>> {
  const { when = () => true, run, ...rest } = definition;
  return action<To, Input, Code>({
    ...rest,
    when: (view) => isOwn(view) && when(view),
    run: (context, input) => run(context as OwnContext, input),
  });
}

/**
 * Declares an action of the profile that changes who can get into the account: it asks for a fresh proof of who this
 * is first (OWASP ASVS 5.0, 7.5.1), so that a session that was stolen opens the account no further.
 */
export function sensitiveAction<
  const To extends Target,
  Input extends InputSchema = NoInput,
  const Code extends ErrorCode = never,
>({
  run,
  to,
  errors = [],
  provable = false,
  ...rest
}: OwnActionDefinition<Input, To, Code> & {
  /** Whoever is offered it has something to prove who they are by. */
  provable?: boolean;
}): Action<NoInfer<Input>> {
  return ownAction<To | typeof PROOF, Input, Code | "flow_discontinuity_error">({
    ...rest,
    to: [...to, PROOF],
    errors: provable ? errors : [...errors, "flow_discontinuity_error"],
    // PROOF is declared just above, which a generic type cannot be shown.
    run: (context, input) =>
      context.fresh ? run(context, input) : (stepUp(context) as Outcome<never, "flow_discontinuity_error">),
  });
}

function isOwn(view: View): view is OwnView {
  return view.account !== null;
}
