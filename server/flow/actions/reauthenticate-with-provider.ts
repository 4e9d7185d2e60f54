import { providerName } from "../../account/linked-identities.ts";
import { action, type View } from "../define.ts";
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

/** Sends a signed-in user to a linked identity provider to reauthenticate. */
export const reauthenticateWithProvider = action({
  description: "Reauthenticate with a linked identity provider; in profile flows.",
  costs: ["write"],
  input: (view) => thirdPartyInput(view).extend({ provider: oneOf(linkedProviders(view)) }),
  flows: ["profile"],
  when: (view) => view.data.steppingUp === true && linkedProviders(view).length > 0,
  to: ["thirdparty"],
  errors: goToProviderErrors,
  run(context, given) {
    const { provider, redirect_to } = given;
    const [, entityId] = /^saml:(.*)$/s.exec(provider) ?? [];
    return entityId === undefined
      ? goToProvider(context, given, { reauthenticates: true })
      : reauthenticateWithSamlProvider(context, { entityId, redirect_to });
  },
});
