import { randomUUID, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Certificate, makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { metadataBlob } from "../../testing/authenticator-metadata.ts";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { passkeySuite } from "../../testing/passkey-suite.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import {
  type Attestation,
  packedAttestation,
  tpmAttestation,
  u2fAttestation,
} from "../../testing/webauthn-statements.ts";
import { readAuthenticatorMetadata } from "../../webauthn/authenticator-metadata.ts";

const pemOf = ({ der }: Certificate) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
const bytesOf = (aaguid: string) => Buffer.from(aaguid.replaceAll("-", ""), "hex");

const vendor = makeAuthority("Vendor");
const stranger = makeAuthority("Stranger");
const modelA = "aaaaaaaa-0000-4000-8000-000000000001";
const modelB = "bbbbbbbb-0000-4000-8000-000000000002";
const modelU2f = "00000000-0000-0000-0000-000000000000";
const models = [modelA, modelB, modelU2f].map((aaguid) => ({
  aaguid: aaguid.toUpperCase(),
  roots: [pemOf(vendor)],
}));

const { runtime, application, newTenant } = await passkeySuite({
  STILE_PASSKEY_SERVER_ATTESTATION_MODELS: JSON.stringify(models),
});

type Application = typeof application;

/** `packed` is self attestation. */
function authenticatorOf(attestation: Attestation | "packed" | undefined, aaguid: string = modelA) {
  return softwareAuthenticator({ aaguid: bytesOf(aaguid), ...(attestation ? { attestation } : {}) });
}

/** Registers a credential and returns it as the application sees it. */
async function registered(
  attestation?: Attestation | "packed",
  aaguid?: string,
  by: Application = application,
) {
  const authenticator = authenticatorOf(attestation, aaguid);
  const { credentialId } = await by.register(randomUUID(), { authenticator });
  const { body } = await by.get(`/credentials/${credentialId}`);
  return body;
}

/** Returns the answer to a registration, which may be rejected. */
async function finalize(
  attestation?: Attestation | "packed",
  aaguid?: string,
  by: Application = application,
) {
  const options = await by.post("/registration/initialize", {
    user_id: randomUUID(),
    username: "ada",
  });
  const answer = authenticatorOf(attestation, aaguid).create(options.body, { origin: by.origin });
  return by.post("/registration/finalize", answer);
}

describe("the attestation of a credential is", () => {
  const intermediate = makeCertificate({ subject: { CN: "Intermediate" }, issuer: vendor, ca: true });

  test.each<[string, Attestation, string?]>([
    ["packed", packedAttestation({ authority: vendor })],
    ["packed, of another model", packedAttestation({ authority: vendor }), modelB],
    [
      "packed, through an intermediate",
      packedAttestation({ authority: intermediate, above: [intermediate] }),
    ],
    ["fido-u2f", u2fAttestation({ authority: vendor }), modelU2f],
    ["tpm", tpmAttestation({ authority: vendor })],
  ])("verified under a configured root: %s", async (_format, attestation, aaguid = modelA) => {
    expect(await registered(attestation, aaguid)).toMatchObject({ attestation_trust: "verified", aaguid });
  });

  const selfMade = {
    "packed, self attestation": "packed",
    packed: packedAttestation({ authority: stranger, above: [stranger] }),
    "packed of a root with the vendor's name": packedAttestation({ authority: makeAuthority("Vendor") }),
    "fido-u2f": u2fAttestation({ authority: stranger }),
    tpm: tpmAttestation({ authority: stranger }),
  } as const;

  test.each(Object.entries(selfMade))(
    "A135 unverified if a stranger made it: %s",
    async (format, attestation) => {
      const aaguid = format === "fido-u2f" ? modelU2f : modelA;
      expect(await registered(attestation, aaguid)).toMatchObject({
        attestation_trust: "unverified",
        aaguid,
      });
    },
  );

  test("A135 unverified for a model without configured roots, and for another tenant", async () => {
    const attestation = packedAttestation({ authority: vendor });
    const unknown = await registered(attestation, "cccccccc-0000-4000-8000-000000000003");
    expect(unknown.attestation_trust).toBe("unverified");
    const elsewhere = await registered(attestation, modelA, await newTenant());
    expect(elsewhere.attestation_trust).toBe("unverified");
  });

  test("none without a statement", async () => {
    expect(await registered()).toMatchObject({ attestation_type: "none", attestation_trust: "none" });
  });

  test.each([
    ["verified", packedAttestation({ authority: vendor })],
    ["unverified", packedAttestation({ authority: stranger })],
    ["none", undefined],
  ])("listed with all credentials, and stated by receipts: %s", async (trust, attestation) => {
    const userId = randomUUID();
    const authenticator = authenticatorOf(attestation);
    await application.register(userId, { authenticator });
    const { body } = await application.get(`/credentials?user_id=${userId}`);
    expect(body).toMatchObject([{ attestation_trust: trust }]);
    const about = { user_id: userId, transaction_id: randomUUID(), transaction_data: { amount: 1 } };
    const answer = await application.answer(authenticator, "/transaction", about);
    const { body: confirmed } = await application.post("/transaction/finalize", answer);
    const claims = JSON.parse(Buffer.from(confirmed.receipt.split(".")[1], "base64url").toString());
    expect(claims.credential).toMatchObject({ aaguid: body[0].aaguid, attestation_trust: trust });
  });
});

test("A134 a certificate of one model with an assertion of another under one root is rejected", async () => {
  const attestation = packedAttestation({ authority: vendor, aaguidExtension: bytesOf(modelA) });
  expect(await finalize(attestation, modelA)).toMatchObject({ status: 200 });
  expect(await finalize(attestation, modelB)).toMatchObject({ status: 400 });
});

describe("passkey_server.attestation_required", () => {
  test("A135 rejects what is not verified", async () => {
    const settings = { attestation_required: true, attestation_models: models };
    const strict = await newTenant({ passkey_server: settings });
    expect(await finalize(packedAttestation({ authority: vendor }), modelA, strict)).toMatchObject({
      status: 200,
    });
    for (const attestation of [undefined, "packed", packedAttestation({ authority: stranger })] as const)
      expect(await finalize(attestation, modelA, strict)).toMatchObject({
        status: 400,
        body: { details: expect.stringContaining("accepted authenticator model") },
      });
  });
});

test("the list of authenticator models verifies every tenant's, unless the tenant has its own roots", async () => {
  const signer = makeCertificate({ subject: { CN: "Signer" }, issuer: vendor });
  const attestationRootCertificates = [stranger.der.toString("base64")];
  const entries = [modelA, modelB].map((aaguid) => ({
    aaguid,
    metadataStatement: { attestationRootCertificates },
    statusReports: [],
  }));
  const verdict = await readAuthenticatorMetadata(
    await metadataBlob({ entries, nextUpdate: "2099-01-01", signer }),
    { issuer: { roots: [new X509Certificate(vendor.der)], signer: null }, now: new Date() },
  );
  if (!verdict.ok) throw new Error(verdict.reason);
  const settings = { STILE_PASSKEY_SERVER_ATTESTATION_MODELS: JSON.stringify(models.slice(0, 1)) };
  const listed = { ...runtime.configured(settings), authenticatorMetadata: verdict.metadata };
  const by = await passkeyApplication(listed);
  const attestation = packedAttestation({ authority: stranger });
  expect(await registered(attestation, modelB, by)).toMatchObject({ attestation_trust: "verified" });
  expect(await registered(attestation, modelA, by)).toMatchObject({ attestation_trust: "unverified" });
});
