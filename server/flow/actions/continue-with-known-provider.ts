import { providerName } from "../../account/linked-identities.ts";
import { circumstance } from "../../conditions/condition.ts";
import { action, type View } from "../define.ts";
import { lastProvider } from "../login-methods.ts";
import { oneOf } from "../profile/choice.ts";
import { reauthenticateWithSamlProvider } from "../saml-login.ts";
import { goToProvider, goToProviderErrors, thirdPartyInput } from "./thirdparty-oauth.ts";

/** Lists the identity providers through which the account owner can reauthenticate: those that are linked and enabled. */
export function linkedProviders({ account, config }: Pick<View, "account" | "config">) {
  const ids = new Set((account?.identities ?? []).map(({ provider }) => provider));
  return [...ids].flatMap((id) => {
    const name = providerName(config, id);
    return name === null ? [] : [{ id, name }];
  });
}

/** The providers that are known to belong to the account: to its owner all of them, else the one that this browser used. */
function knownProviders(view: View) {
  if (view.type === "profile") return view.data.steppingUp ? linkedProviders(view) : [];
  const provider = lastProvider(view.config, view.data);
  return provider ? [provider] : [];
}

/**
 * Sends a user whose account is known to an identity provider: a signed-in user to a linked one to reauthenticate, and a
 * user whose browser bears a mark of the account to the one that it signed in with last.
 */
export const continueWithKnownProvider = action({
  description:
    "Sign in with the identity provider that this browser used last; in profile flows, reauthenticate with a linked one.",
  costs: ["write"],
  input: (view) => thirdPartyInput(view).extend({ provider: oneOf(knownProviders(view)) }),
  flows: ["login", "profile"],
  when: circumstance<View>("known_provider", (view) => knownProviders(view).length > 0, {
    holds: "the account is known to belong to an enabled identity provider",
    fails: "the account is not known to belong to an enabled identity provider",
  }),
  to: ["thirdparty"],
  errors: goToProviderErrors,
  run(context, input) {
    if (context.type !== "profile") return goToProvider(context, input);
    const { provider, redirect_to } = input;
    const [, entityId] = /^saml:(.*)$/s.exec(provider) ?? [];
    return entityId === undefined
      ? goToProvider(context, input, { reauthenticates: true })
      : reauthenticateWithSamlProvider(context, { entityId, redirect_to });
  },
});
