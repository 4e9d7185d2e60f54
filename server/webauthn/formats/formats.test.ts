import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { Socket } from "node:net";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Certificate, type Extension, makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { der, sequence, tagged } from "../../lib/der-encoding.ts";
import { type CreateCall, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { sha256 } from "../../testing/webauthn-messages.ts";
import {
  type Attestation,
  androidKeyAttestation,
  appleAttestation,
  appleNonce,
  keyDescription,
  packedAttestation,
  tpmAttestation,
  u2fAttestation,
} from "../../testing/webauthn-statements.ts";
import { offeredAlgorithms } from "../algorithms.ts";
import { verifyWebAuthnAttestation } from "../attestation.ts";
import { readClientData, registrationResponse } from "../responses.ts";
import { knownRoots } from "./index.ts";

const origin = "https://login.example";
const challenge = Buffer.from("a challenge of thirty-two bytes.").toString("base64url");
const model = Buffer.alloc(16, 0xab);
const year = 365 * 86_400_000;
const now = new Date();
const lastYear = { notBefore: new Date(now.getTime() - 2 * year), notAfter: new Date(now.getTime() - year) };
const nextYear = { notBefore: new Date(now.getTime() + year), notAfter: new Date(now.getTime() + 2 * year) };

const authority = makeAuthority();
const otherAuthority = makeAuthority("Another Authority");

/** Returns the response of an authenticator with this attestation statement. */
function made(attestation: Attestation, call: Partial<CreateCall> = {}, aaguid: Uint8Array = model) {
  const options = {
    rp: { id: "login.example", name: "Example" },
    user: { id: "YWRh", name: "ada", displayName: "ada" },
    challenge,
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: "public-key", alg })),
    attestation: "direct",
  };
  return softwareAuthenticator({ attestation, aaguid }).create(options, { origin, ...call });
}

async function verdict(response: unknown, root: Certificate = authority): Promise<string> {
  const answer = registrationResponse.parse(response);
  const clientData = readClientData(answer.response.clientDataJSON);
  if (!clientData) throw new Error("no client data");
  const roots = [new X509Certificate(root.der)];
  const judged = await verifyWebAuthnAttestation(
    answer,
    clientData,
    {
      challenge,
      origins: [origin],
      rpId: "login.example",
      requireUserPresence: true,
      requireUserVerification: false,
      formats: ["none", "packed", "fido-u2f", "tpm", "apple", "android-key"],
      now,
    },
    { apple: roots, "android-key": roots },
  );
  return judged.ok ? `accepted ${judged.credential.attestationType}` : judged.reason;
}

/** An extension with the address of a revocation list. */
const revocationList: Extension = {
  id: "2.5.29.31",
  value: sequence(sequence(tagged(0, tagged(0, der(0x86, Buffer.from("http://169.254.169.254/crl")))))),
};

beforeEach(() => {
  vi.stubGlobal("fetch", vi.fn());
  vi.spyOn(Socket.prototype, "connect");
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const expectNoRequest = () => {
  expect(fetch).not.toHaveBeenCalled();
  expect(Socket.prototype.connect).not.toHaveBeenCalled();
};

const intermediate = makeCertificate({ subject: { CN: "Intermediate" }, issuer: authority, ca: true });

describe("verification of a statement accepts", () => {
  test.each<[string, Attestation, Uint8Array?]>([
    ["packed", packedAttestation({ authority })],
    ["packed", packedAttestation({ authority, aaguidExtension: null })],
    ["packed", packedAttestation({ authority: intermediate, above: [intermediate] })],
    ["fido-u2f", u2fAttestation({ authority }), Buffer.alloc(16)],
    ["tpm", tpmAttestation({ authority })],
    ["apple", appleAttestation({ authority })],
    ["apple", appleAttestation({ authority: intermediate, above: [intermediate] })],
    ["apple", appleAttestation({ authority: intermediate, above: [intermediate, authority] })],
    ["android-key", androidKeyAttestation({ authority })],
    ["android-key", androidKeyAttestation({ authority, above: [authority] })],
    ["android-key", androidKeyAttestation({ authority, description: { enforcedBy: "software" } })],
  ])("the format %s", async (fmt, attestation, aaguid) => {
    expect(await verdict(made(attestation, {}, aaguid))).toBe(`accepted ${fmt}`);
    expectNoRequest();
  });

  test("a chain to an expired root", async () => {
    const old = makeAuthority("Old Root", lastYear);
    expect(await verdict(made(appleAttestation({ authority: old })), old)).toBe("accepted apple");
    expect(await verdict(made(appleAttestation({ authority: old, above: [old] })), old)).toBe(
      "accepted apple",
    );
  });
});

describe("R17 packed attestation rejects", () => {
  const subject = { C: "AA", O: "Example", OU: "Authenticator Attestation", CN: "Example Key" };

  test.each<[string, Parameters<typeof packedAttestation>[0]]>([
    ["A134 a certificate of another model", { authority, aaguidExtension: Buffer.alloc(16, 1) }],
    [
      "a certificate with another organizational unit",
      { authority, certificate: { subject: { ...subject, OU: "Example" } } },
    ],
    [
      "a certificate with an invalid country",
      { authority, certificate: { subject: { ...subject, C: "AAA" } } },
    ],
    ["a CA certificate", { authority, certificate: { ca: true } }],
    ["a certificate of an older version", { authority, certificate: { version: 1 } }],
    ["an expired certificate", { authority, certificate: lastYear }],
    ["a certificate that is not yet valid", { authority, certificate: nextYear }],
    ["a missing signature", { authority, members: { sig: undefined } }],
    ["a signature of other data", { authority, members: { sig: Buffer.alloc(70, 1) } }],
    ["an unknown algorithm", { authority, members: { alg: -1 } }],
    ["an empty list of certificates", { authority, members: { x5c: [] } }],
    ["a text in the list of certificates", { authority, members: { x5c: ["certificate"] } }],
    ["invalid DER in the list of certificates", { authority, members: { x5c: [Buffer.alloc(100, 0x30)] } }],
    [
      "deeply nested DER in the list of certificates",
      { authority, members: { x5c: [Buffer.alloc(20_000, 0x30)] } },
    ],
  ])("%s", async (_what, options) => {
    expect(await verdict(made(packedAttestation(options)))).toBe("not_verified");
  });
});

describe("R17 FIDO U2F attestation rejects", () => {
  const zero = Buffer.alloc(16);

  test("a key with an AAGUID", async () => {
    expect(await verdict(made(u2fAttestation({ authority })))).toBe("not_verified");
  });

  test("a second certificate", async () => {
    const response = made(u2fAttestation({ authority, above: [authority] }), {}, zero);
    expect(await verdict(response)).toBe("attestation_statement_refused");
  });

  test("a signature of other data", async () => {
    const response = made(u2fAttestation({ authority, members: { sig: Buffer.alloc(70, 1) } }), {}, zero);
    expect(await verdict(response)).toBe("not_verified");
  });
});

describe("R17 TPM attestation rejects", () => {
  test.each<[string, Parameters<typeof tpmAttestation>[0]]>([
    ["another ceremony", { authority, extraData: Buffer.alloc(32, 1) }],
    ["a structure without the magic value of TPMs", { authority, magic: 1 }],
    ["another version", { authority, members: { ver: "1.2" } }],
    ["an unknown manufacturer", { authority, manufacturer: "id:00000000" }],
    ["a CA certificate", { authority, certificate: { ca: true } }],
    ["a certificate with a subject", { authority, certificate: { subject: { CN: "TPM" } } }],
    ["a certificate without the name of the manufacturer", { authority, certificate: { extensions: [] } }],
    ["an expired certificate", { authority, certificate: lastYear }],
    ["a broken structure", { authority, pubArea: Buffer.from("0023000b", "hex") }],
    ["a signature of other data", { authority, members: { sig: Buffer.alloc(70, 1) } }],
  ])("%s", async (_what, options) => {
    expect(await verdict(made(tpmAttestation(options)))).toBe("not_verified");
  });
});

const otherKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;

describe("R17 R19 Apple attestation rejects", () => {
  test.each<[string, Parameters<typeof appleAttestation>[0]]>([
    ["another ceremony", { authority, nonce: Buffer.alloc(32, 1) }],
    ["a truncated nonce", { authority, nonce: Buffer.alloc(31) }],
    ["a certificate without a nonce", { authority, extensions: [] }],
    ["a certificate of another key", { authority, certificate: { publicKey: otherKey() } }],
    ["a root that is not Apple's", { authority: otherAuthority }],
    [
      "a root that is not Apple's and is part of the chain",
      { authority: otherAuthority, above: [otherAuthority] },
    ],
    ["a root that only has the same name", { authority: makeAuthority() }],
    ["an expired certificate", { authority, certificate: lastYear }],
    ["a certificate that is not yet valid", { authority, certificate: nextYear }],
    ["certificates in the wrong order", { authority: intermediate, above: [authority, intermediate] }],
    ["more than six certificates", { authority, above: Array(6).fill(authority) }],
    ["an empty list of certificates", { authority, members: { x5c: [] } }],
    ["a missing list of certificates", { authority, members: { x5c: undefined } }],
    ["a text instead of the list of certificates", { authority, members: { x5c: "certificate" } }],
    ["invalid DER instead of a certificate", { authority, members: { x5c: [Buffer.alloc(64, 0x30)] } }],
  ])("%s", async (_what, options) => {
    expect(await verdict(made(appleAttestation(options)))).toBe("attestation_statement_refused");
  });

  test("a certificate with two nonces, one of them right", async () => {
    const attestation: Attestation = (attested) => {
      const right = sha256(Buffer.concat([attested.authData, attested.clientDataHash]));
      const extensions = [appleNonce(right), appleNonce(Buffer.alloc(32, 2))];
      return appleAttestation({ authority, extensions })(attested);
    };
    expect(await verdict(made(attestation))).toBe("attestation_statement_refused");
  });

  test("a chain through a certificate that is not a CA", async () => {
    const customer = makeCertificate({ subject: { CN: "Customer" }, issuer: authority });
    const response = made(appleAttestation({ authority: customer, above: [customer] }));
    expect(await verdict(response)).toBe("attestation_statement_refused");
  });

  test("a chain through an expired certificate", async () => {
    const old = makeCertificate({ subject: { CN: "Old" }, issuer: authority, ca: true, ...lastYear });
    const response = made(appleAttestation({ authority: old, above: [old] }));
    expect(await verdict(response)).toBe("attestation_statement_refused");
  });
});

describe("R17 R19 Android attestation rejects", () => {
  test.each<[string, Parameters<typeof androidKeyAttestation>[0]]>([
    ["another ceremony", { authority, description: { challenge: Buffer.alloc(32, 1) } }],
    ["a key that other applications may use", { authority, description: { allApplications: true } }],
    ["a key that was imported", { authority, description: { origin: 2 } }],
    ["a key that decrypts", { authority, description: { purposes: [1] } }],
    ["a key that also decrypts", { authority, description: { purposes: [2, 1] } }],
    ["a key without a purpose", { authority, description: { purposes: [] } }],
    ["a certificate without a description", { authority, extensions: [] }],
    [
      "a certificate with an invalid description",
      { authority, extensions: [{ id: "1.3.6.1.4.1.11129.2.1.17", value: Buffer.alloc(9, 0xbf) }] },
    ],
    ["a certificate of another key", { authority, certificate: { publicKey: otherKey() } }],
    ["another algorithm than the key's", { authority, members: { alg: -257 } }],
    ["a missing algorithm", { authority, members: { alg: undefined } }],
    ["a signature of other data", { authority, members: { sig: Buffer.alloc(70, 1) } }],
    ["a missing signature", { authority, members: { sig: undefined } }],
    ["a root that is not Google's", { authority: otherAuthority, above: [otherAuthority] }],
    ["an expired certificate", { authority, certificate: lastYear }],
    ["an empty list of certificates", { authority, members: { x5c: [] } }],
  ])("%s", async (_what, options) => {
    expect(await verdict(made(androidKeyAttestation(options)))).toBe("attestation_statement_refused");
  });

  test("a description signed by a key that was itself attested", async () => {
    const attested = makeCertificate({
      subject: { CN: "Attested" },
      issuer: authority,
      ca: true,
      extensions: [keyDescription({})],
    });
    const response = made(androidKeyAttestation({ authority: attested, above: [attested] }));
    expect(await verdict(response)).toBe("attestation_statement_refused");
  });
});

describe("A81 a client's certificate causes no outgoing request", () => {
  const extensions = [revocationList];
  const evil = makeAuthority("Evil Root", { extensions });

  test.each<[string, Attestation, Uint8Array?]>([
    ["packed", packedAttestation({ authority: evil, certificate: { extensions }, above: [evil] })],
    ["fido-u2f", u2fAttestation({ authority: evil, certificate: { extensions } }), Buffer.alloc(16)],
    ["apple", appleAttestation({ authority: evil, certificate: { extensions }, above: [evil] })],
    [
      "android-key",
      androidKeyAttestation({
        authority: evil,
        extensions: [keyDescription({}), ...extensions],
        above: [evil],
      }),
    ],
  ])("in the format %s", async (_fmt, attestation, aaguid) => {
    await verdict(made(attestation, {}, aaguid));
    expectNoRequest();
  });

  test("although the library alone sends one for Android attestation", async () => {
    const attestation = androidKeyAttestation({
      authority: evil,
      above: [evil],
      certificate: { extensions: [revocationList] },
    });
    // The library reads the revocation list only after it has found a valid description.
    const described: Attestation = (attested) =>
      androidKeyAttestation({
        authority: evil,
        above: [evil],
        extensions: [keyDescription({ challenge: attested.clientDataHash }), revocationList],
      })(attested);
    for (const each of [attestation, described]) {
      const response = made(each);
      const verification = verifyRegistrationResponse({
        response: { ...response, response: { ...response.response, transports: [] } } as never,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: "login.example",
        supportedAlgorithmIDs: [-7],
      });
      await expect(verification).rejects.toThrow();
    }
    expect(fetch).toHaveBeenCalledWith("http://169.254.169.254/crl");
  });
});

test("knownRoots contains the public roots of Apple and Google", () => {
  const names = Object.values(knownRoots).flatMap((roots) => roots.map(({ subject }) => subject));
  expect(names).toContain("CN=Apple WebAuthn Root CA\nO=Apple Inc.\nST=California");
  expect(knownRoots["android-key"]?.length).toBeGreaterThan(1);
});
