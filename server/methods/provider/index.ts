import { always } from "../../conditions/condition.ts";
import type { Method } from "../method.ts";
import { identityMoving } from "./moving.ts";

/** Returns the provider name that clients know: the key of an OAuth provider, the entity id of a SAML provider. */
export function publicProvider(provider = ""): string {
  return provider.replace(/^saml:/, "");
}

/**
 * Identities at providers (OAuth, OpenID Connect, SAML); `server/thirdparty` speaks with them. A factor is multi-factor if
 * the provider is trusted for it and said so.
 */
export const provider = {
  name: "third_party",
  credentials: "identities at providers",
  tables: ["identities"],
  isSingle: false,
  has: ({ hasIdentity }) => hasIdentity,
  fact: "hasIdentity",
  pending: null,
  moving: identityMoving,
  removal: null,
  amr: (name) => `ext:${publicProvider(name)}`,
  strength: { isMultiFactor: "if_user_verified", resistsPhishing: false },
  firstFactor: {
    state: "thirdparty",
    identifies: true,
    followsIdentifier: "never",
    // Each provider has a setting of its own; an identity of a disabled one is no fact of the account.
    enabled: always,
    usable: always,
    choice: null,
    codeTo: null,
  },
  secondFactor: null,
} as const satisfies Method;
