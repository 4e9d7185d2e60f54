import { always } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Method } from "../method.ts";

/**
 * Authenticators that answer requests (FIDO UAF), such as an app on a phone; `server/authenticator` has their requests. An
 * application registers them, for ids that need not be accounts, so they are second factors only while the configuration
 * says so.
 */
export const authenticator = {
  name: "authenticator",
  credentials: "authenticators (UAF)",
  tables: ["authenticatorDevices"],
  isSingle: false,
  has: ({ hasAuthenticator }) => hasAuthenticator,
  fact: "hasAuthenticator",
  pending: null,
  // The key of an authenticator is bound to this service.
  moving: null,
  removal: null,
  amr: () => "authenticator",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: null,
  secondFactor: {
    kind: "own",
    rank: 2,
    state: "login_authenticator",
    switch: {
      action: "continue_to_login_authenticator",
      description: "Confirm with a registered authenticator instead.",
    },
    accepted: configured("mfa.authenticator.enabled"),
    usable: always,
    enrolment: null,
    notice: "authenticator",
    outlastsSettings: false,
  },
} as const satisfies Method;
