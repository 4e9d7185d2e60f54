import { all, any } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { back } from "../actions/back.ts";
import { declinePasskey } from "../actions/skip.ts";
import { state } from "../define.ts";
import { go } from "../outcome.ts";
import { canDoWithout } from "../plan.ts";

/** The user chooses which credential to create. */
export const credentialOnboardingChooser = state({
  name: "credential_onboarding_chooser",
  actions: (action) => ({
    continue_to_passkey_registration: action({
      description: "Create a passkey.",
      to: ["onboarding_create_passkey"],
      run: () => go("onboarding_create_passkey"),
    }),
    continue_to_password_registration: action({
      description: "Set a password.",
      to: ["password_creation"],
      run: () => go("password_creation"),
    }),
    skip: declinePasskey(
      all(
        any(configured("password.optional"), configured("passkey.optional")),
        canDoWithout("credential_onboarding_chooser"),
      ),
    ),
    back,
  }),
});
