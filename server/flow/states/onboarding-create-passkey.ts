import { z } from "zod";
import { all, any, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { createCreationOptions } from "../../methods/passkey/passkeys.ts";
import { back } from "../actions/back.ts";
import { declinePasskey } from "../actions/skip.ts";
import { canUsePasskeys } from "../actions/webauthn-generate-request-options.ts";
import { hasDeclinedPasskey } from "../credential-steps.ts";
import { state, type View } from "../define.ts";
import { creationParameters } from "../new-credential.ts";
import { go } from "../outcome.ts";
import { canDoWithout, staysAbleToSignIn } from "../plan.ts";
import { mayAddCredential } from "../second-factor.ts";

const conditionalInput = z.strictObject({ conditional: z.boolean().optional().meta({ hidden: true }) });

const plainInput = z.strictObject({}) as unknown as typeof conditionalInput;

/**
 * Whether the browser may create a passkey without a prompt after a password login (WebAuthn Level 3, 5.1.3,
 * conditional mediation). The user is not verified then, so not if user verification is required.
 */
function mayCreateConditionally({ data, config: { passkey } }: View): boolean {
  return (
    passkey.conditional_create &&
    passkey.user_verification !== "required" &&
    data.factors[0]?.method === "password"
  );
}

/** The user is asked to create a passkey. */
export const onboardingCreatePasskey = state({
  name: "onboarding_create_passkey",
  needs: ["userId"],
  actions: (action) => ({
    webauthn_generate_creation_options: action({
      description: "Get creation options for a passkey.",
      costs: ["write"],
      input: (view) => (mayCreateConditionally(view) ? conditionalInput : plainInput),
      when: all(canUsePasskeys, mayAddCredential),
      to: ["onboarding_verify_passkey_attestation"],
      async run(context, { conditional }) {
        const data = { credentialKind: "passkey" } as const;
        if (!conditional) return go("onboarding_verify_passkey_attestation", { data });
        // Replaces the options of the next state's `enter`, which require user interaction.
        const parameters = { ...creationParameters(context), kind: "passkey", conditional } as const;
        const { options, write } = await createCreationOptions(context.request, parameters);
        return go("onboarding_verify_passkey_attestation", {
          data,
          payload: { creation_options: options },
          writes: [write],
        });
      },
    }),
    skip: declinePasskey(
      any(
        not(mayAddCredential),
        all(
          configured("passkey.optional"),
          // Declined meanwhile, in another flow of the account: the plan does not ask for one any more.
          any(canDoWithout("onboarding_create_passkey"), all(hasDeclinedPasskey, staysAbleToSignIn)),
        ),
      ),
    ),
    back,
  }),
});
