import type { Fault } from "../fault.ts";

/** Faults of WebAuthn, the passkey server and the authenticator app. */
export const authenticatorFaults: readonly Fault[] = [
  {
    name: "a certificate of an Ed25519 key of small order leads to a root",
    file: "server/webauthn/formats/certificates.ts",
    text: "return hasNoWeakEd25519Point(publicKey) ? publicKey : null;",
    fault: "return publicKey;",
    caughtBy: ["server/webauthn/formats/certificates.test.ts"],
  },
  {
    name: "a device that was registered after a request answers it",
    file: "server/authenticator/answer-request.ts",
    text: "device.createdAt <= createdAt && (deviceIds === null",
    fault: "device.createdAt !== createdAt && (deviceIds === null",
    caughtBy: ["server/http/authenticator/answer-request.test.ts"],
  },
  {
    name: "concurrent answers with the same signature counter are accepted",
    file: "server/authenticator/devices.ts",
    text: "case when not exists (select from key_used where at = 0) then 'authenticator_key' end",
    fault: "null::text",
    caughtBy: ["server/http/authenticator/answer-request.test.ts"],
  },
  {
    name: "an authentication with a signature counter that does not grow is accepted",
    file: "server/authenticator/uaf/verify-authentication.ts",
    text: "signCounter <= registered.signCounter",
    fault: "signCounter < registered.signCounter",
    caughtBy: ["server/authenticator/uaf/verify-authentication.test.ts"],
  },
  {
    name: "the final challenge of an authentication is not compared",
    file: "server/authenticator/uaf/verify-authentication.ts",
    text: "if (!assertion.finalChallengeHash.equals(finalChallengeHash))",
    fault: "if (assertion.finalChallengeHash.length !== finalChallengeHash.length)",
    caughtBy: ["server/authenticator/uaf/verify-authentication.test.ts"],
  },
  {
    name: "a channel binding to another server is accepted",
    file: "server/authenticator/uaf/channel-binding.ts",
    text: "if (isFilled(serverEndPoint) && !isOneOf(serverEndPoint, endPoints))",
    fault: "if (isFilled(serverEndPoint) && endPoints.length === 0)",
    caughtBy: ["server/authenticator/uaf/channel-binding.test.ts"],
  },
  {
    name: "the total of credentials counts all tenants",
    file: "server/passkey-server/credentials.ts",
    text: "    .where(and(eq(table.tenantId, tenantId), wanted));\n  return { credentials",
    fault: "    .where(wanted);\n  return { credentials",
    caughtBy: ["server/http/passkeys/credentials.test.ts"],
  },
  {
    name: "a receipt states an unverified model as verified",
    file: "server/passkey-server/receipt.ts",
    text: "attestation_trust: credential.attestationTrust,",
    fault: 'attestation_trust: "verified",',
    caughtBy: ["server/http/passkeys/attestation.test.ts"],
  },
  {
    name: "an assertion of another user's credential verifies",
    file: "server/webauthn/assertion.ts",
    text: "expected.userId !== null && credential.userId !== expected.userId",
    fault: "expected.userId !== null && credential.userId === undefined",
    caughtBy: ["server/webauthn/assertion.test.ts"],
  },
  {
    name: "a cross-origin ceremony verifies",
    file: "server/webauthn/assertion.ts",
    text: "if (!isAcceptedFraming(clientData, expected.framing ?? noFraming))",
    fault:
      "if (clientData.topOrigin !== undefined && !isAcceptedFraming(clientData, expected.framing ?? noFraming))",
    caughtBy: ["server/webauthn/assertion.test.ts"],
  },
  {
    name: "self attestation is verified",
    file: "server/webauthn/attestation-trust.ts",
    text: 'if (!certificate) return "unverified";',
    fault: 'if (!certificate) return "verified";',
    caughtBy: ["server/http/passkeys/attestation.test.ts"],
  },
  {
    name: "a certificate under any root verifies a model",
    file: "server/webauthn/attestation-trust.ts",
    text: "return roots && leadsToRoot(chain, roots, now) ?",
    fault: "return roots ?",
    caughtBy: ["server/http/passkeys/attestation.test.ts"],
  },
  {
    name: "a list of authenticator models is used after its time",
    file: "server/webauthn/authenticator-metadata.ts",
    text: "if (now >= outdatedAt) return [];",
    fault: "",
    caughtBy: ["server/webauthn/authenticator-metadata.test.ts"],
  },
];
