import { capability, configured } from "../../conditions/leaves.ts";
import { type Method, pendingAs } from "../method.ts";
import { insertCredential, pendingCredential } from "../webauthn-credentials.ts";
import { webauthnMoving } from "./moving.ts";

/** Passkeys (WebAuthn): multi-factor where the authenticator verifies its user (NIST SP 800-63B-4, 3.1.7). */
export const passkey = {
  name: "passkey",
  credentials: "passkeys",
  tables: ["webauthnCredentials"],
  isSingle: false,
  has: ({ hasPasskey }) => hasPasskey,
  fact: "hasPasskey",
  pending: pendingAs("credential", pendingCredential, insertCredential),
  moving: webauthnMoving,
  removal: null,
  amr: () => "passkey",
  strength: { isMultiFactor: "if_user_verified", resistsPhishing: true },
  firstFactor: {
    state: "login_passkey",
    identifies: true,
    // The choice of a method always offers passkeys, so that they count as a method of their own only where it is shown.
    followsIdentifier: "if_shown",
    enabled: configured("passkey.enabled"),
    usable: capability("webauthn"),
    choice: null,
    codeTo: null,
  },
  secondFactor: null,
} as const satisfies Method;
