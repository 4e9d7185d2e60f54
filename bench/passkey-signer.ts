import { createPrivateKey, sign } from "node:crypto";
import { authenticatorData, clientDataJson, signedBytes } from "../server/testing/webauthn-messages.ts";
import type { Passkey } from "./people.ts";
import type { Setting } from "./setting.ts";

/** The browsers' passkeys, of which everything is made beforehand that does not depend on the challenge. */
export function passkeySigner({ origin, passkey }: Setting) {
  const key = createPrivateKey(passkey);
  const authData = authenticatorData({
    rpId: new URL(origin).hostname,
    signCount: 0,
    userPresent: true,
    userVerified: true,
    backupEligible: true,
    backedUp: true,
  });
  const authenticator = authData.toString("base64url");
  return {
    /** Signs a challenge as `PublicKeyCredential.toJSON()` reports it. */
    assertionOf(challenge: string, { id, userHandle }: Passkey) {
      const clientData = clientDataJson({ type: "webauthn.get", challenge, origin, crossOrigin: false });
      return {
        id,
        rawId: id,
        type: "public-key",
        clientExtensionResults: {},
        authenticatorAttachment: "platform",
        response: {
          clientDataJSON: clientData.toString("base64url"),
          authenticatorData: authenticator,
          signature: sign("sha256", signedBytes(authData, clientData), key).toString("base64url"),
          userHandle,
        },
      };
    },
  };
}
