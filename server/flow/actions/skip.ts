import { type Condition, holds } from "../../conditions/condition.ts";
import { setPasskeyDeclined } from "../../identity/users.ts";
import { type Action, action, type NoInput, type View } from "../define.ts";
import { isPendingRegistration } from "../facts.ts";
import { NEXT } from "../names.ts";
import { go } from "../outcome.ts";
import { mayAddCredential } from "../second-factor.ts";

/**
 * Declines a passkey, which is remembered with the account: a login does not offer one again for a while
 * (`passkey.offer_again_after`). A registration writes it with its account.
 */
export function declinePasskey(when: Condition<View>): Action<NoInput> {
  return action({
    description: "Do without a passkey for now.",
    when,
    to: [NEXT],
    run(context) {
      const { request, data, config } = context;
      const { userId } = data;
      const offered = config.passkey.enabled && holds(mayAddCredential, context);
      if (!userId || !offered || isPendingRegistration(context)) return go(NEXT);
      const { tenant, now } = request;
      return go(NEXT, { writes: [(tx) => setPasskeyDeclined(tx, tenant.id, { userId, now })] });
    },
  });
}

/** Skips a state of the plan, if `when` allows it. */
export function skip(when: Condition<View>): Action<NoInput> {
  return action({
    description: "Skip this step.",
    when,
    to: [NEXT],
    run: () => go(NEXT),
  });
}
