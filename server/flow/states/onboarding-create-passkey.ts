import { back } from "../actions/back.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { go } from "../outcome.ts";
import { skippable } from "../plan.ts";

/** The person is offered to create a passkey. */
export const onboardingCreatePasskey = state({
  name: "onboarding_create_passkey",
  needs: ["userId"],
  actions: (action) => ({
    webauthn_generate_creation_options: action({
      description: "Get creation options for a passkey.",
      when: ({ data }) => data.capabilities?.webauthn === true,
      to: ["onboarding_verify_passkey_attestation"],
      run: () => go("onboarding_verify_passkey_attestation"),
    }),
    skip: skip((view) => view.config.passkey.optional && skippable(view, "onboarding_create_passkey")),
    back,
  }),
});
