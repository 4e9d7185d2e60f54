import { z } from "zod";
import { endSignIns } from "../../account/access-revocation.ts";
import { type Account, requireAccount } from "../../account/account.ts";
import { removeIdentity } from "../../account/linked-identities.ts";
import { canStillSignIn } from "../../account/reachability.ts";
import { audit } from "../../audit/audit.ts";
import { circumstance } from "../../conditions/condition.ts";
import type { Config } from "../../config/schema.ts";
import { enabledOAuthProviders } from "../../thirdparty/providers/index.ts";
import { goToProvider, goToProviderErrors, thirdPartyInput } from "../actions/thirdparty-oauth.ts";
import type { View } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import { type Choice, oneOf } from "./choice.ts";
import { type ProfileView, sensitiveAction } from "./profile-action.ts";
import { endOthersIf, withEndOfOthers } from "./sessions.ts";

/** Profile actions on linked identities. */
export const identityActions = {
  connect_thirdparty_oauth_provider: sensitiveAction({
    description: "Connect an identity provider, to sign in with it.",
    costs: ["write"],
    input: connectInput,
    when: circumstance<ProfileView>(
      "unconnected_providers",
      ({ account, config }) => unconnected(account, config).length > 0,
      {
        holds: "an enabled identity provider is not connected",
        fails: "every enabled identity provider is connected",
      },
    ),
    to: ["thirdparty"],
    errors: goToProviderErrors,
    run: goToProvider,
  }),
  disconnect_thirdparty_oauth_provider: sensitiveAction({
    description: "Disconnect an identity provider.",
    costs: ["write"],
    input: (view) => {
      const { account, config } = view;
      const choices = account ? removable(account, config) : [];
      return withEndOfOthers(z.strictObject({ identity_id: oneOf(choices) }), view);
    },
    when: circumstance<ProfileView>(
      "removable_identities",
      ({ account, config }) => removable(account, config).length > 0,
      {
        holds: "an identity can be removed",
        fails: "the account has no identity without which its user could sign in",
      },
    ),
    canAlwaysReauthenticate: true,
    to: [STAY],
    run(context, { identity_id, end_other_sessions }) {
      const { request, account, config } = context;
      const { id } = account.profile;
      return stay({
        writes: [
          requireAccount(request, id, (current) =>
            removable(current, config).some((choice) => choice.id === identity_id),
          ),
          removeIdentity(request, id, identity_id),
          (tx) => endSignIns(tx, request.tenant.id, id),
          audit(request, "thirdparty_unlinked", {}, id),
          ...endOthersIf(end_other_sessions, context),
        ],
      });
    },
  }),
};

function connectInput(view: View) {
  return thirdPartyInput(view).extend({ provider: oneOf(unconnected(view.account, view.config)) });
}

/** Lists the enabled providers without an identity of this account. */
function unconnected(account: Account | null, config: Config): Choice[] {
  const connected = new Set((account?.identities ?? []).map(({ provider }) => provider));
  return enabledOAuthProviders(config).filter(({ id }) => !connected.has(id));
}

/** Lists the removable identities: not the last login method. */
function removable(account: Account, config: Config): Choice[] {
  return (account.profile.identities ?? [])
    .filter(({ identity_id }) => canStillSignIn(account, config, { identity: identity_id }))
    .map(({ identity_id, provider }) => ({ id: identity_id, name: provider }));
}
