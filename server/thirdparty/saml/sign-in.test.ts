import { describe, expect, test } from "vitest";
import { ThirdPartyError } from "../../failures/third-party.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { providerKey, providerMetadata, samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import type { ThirdPartyRequest } from "../authorization-requests.ts";
import { providerNetwork } from "../provider-fetch.ts";
import { contentCiphers, keyTransports } from "./response-schema.ts";
import { samlKey } from "./saml-keys.ts";
import { completeSamlSignIn } from "./sign-in.ts";

/** The fixed time of both sides, so that the duration of a test does not matter. */
const fixedTime = new Date();
const now = () => fixedTime;
const provider = samlIdentityProvider({ now });
const sp = { consumerUrl: "http://localhost:3000/saml/callback", audience: "http://localhost:3000" };
const ago = (minutes: number) => new Date(fixedTime.getTime() - minutes * 60_000);

const settings = (more: object = {}, ...others: object[]) => ({
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    {
      name: "example",
      domains: ["example.org"],
      metadata: provider.metadata,
      allow_idp_initiated: true,
      ...more,
    },
    ...others,
  ]),
});

const runtime = await runtimeForTests(settings());
const certificate = (await samlKey({ runtime, tenant: runtime.tenant }, "saml_encryption")).certificate;

const request = (more: Partial<ThirdPartyRequest> = {}): ThirdPartyRequest => ({
  flowId: null,
  provider: `saml:${provider.entityId}`,
  redirectTo: "http://localhost:3000/",
  privateState: { requestId: "_request", reauthenticatedSince: fixedTime.toISOString() },
  ...more,
});

/** Submits a response to our request or, with null, an unsolicited one. */
async function submit(
  about: Partial<Answer> = {},
  { asked = request(), at = runtime }: { asked?: ThirdPartyRequest | null; at?: TestRuntime } = {},
) {
  const samlResponse = await provider.answer({
    ...sp,
    inResponseTo: asked ? "_request" : null,
    ...about,
  });
  const context = { runtime: at, tenant: at.tenant };
  return (await completeSamlSignIn(context, { samlResponse, request: asked }, now())).facts;
}

/** Returns the reason, or what is wrong with the document, which only the operator sees, for which a response is rejected. */
async function reasonOf(outcome: Promise<unknown>): Promise<string> {
  const error = await outcome.then(
    () => "accepted",
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ThirdPartyError)) throw error instanceof Error ? error : new Error(String(error));
  return error.detail ?? error.reason;
}

describe("accepts a response", () => {
  const facts = { provider: `saml:${provider.entityId}`, subject: "u-1", email: null };

  test.each(["assertion", "response", "both"] as const)("signed: %s", async (sign) => {
    expect(await submit({ sign })).toMatchObject(facts);
  });

  test.each(["assertion", "response", "both"] as const)("encrypted, signed: %s", async (sign) => {
    expect(await submit({ sign, encryptFor: certificate })).toMatchObject(facts);
    const cipher = "http://www.w3.org/2009/xmlenc11#aes128-gcm";
    expect(await submit({ sign, encryptFor: certificate, cipher })).toMatchObject(facts);
  });

  test.each(
    keyTransports.flatMap((transport) =>
      Object.keys(contentCiphers).map((cipher) => ({ cipher, ...transport })),
    ),
  )("encrypted by $cipher with a key by $algorithm, $digest and $mask", async (transport) => {
    const { cipher, algorithm, digest, ...rest } = transport;
    const about = {
      encryptFor: certificate,
      cipher,
      keyTransport: algorithm,
      keyDigest: digest.replace(/^.*#/, ""),
      keyMask: "mask" in rest ? rest.mask : undefined,
    };
    expect(await submit({ ...about, sign: "response" })).toMatchObject(facts);
    expect(await submit({ ...about, sign: "both" })).toMatchObject(facts);
    if (cipher.endsWith("-gcm")) expect(await submit({ ...about, sign: "assertion" })).toMatchObject(facts);
  });

  test("encrypted by a cipher without a tag, in a signed response", async () => {
    const cipher = "http://www.w3.org/2001/04/xmlenc#aes256-cbc";
    expect(await submit({ sign: "response", encryptFor: certificate, cipher })).toMatchObject(facts);
  });

  test.each([
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512",
    "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1",
  ])("signed by %s", async (signatureAlgorithm) => {
    expect(await submit({ signatureAlgorithm })).toMatchObject(facts);
    const digestAlgorithm = "http://www.w3.org/2001/04/xmlenc#sha512";
    expect(await submit({ signatureAlgorithm, digestAlgorithm })).toMatchObject(facts);
  });

  test("signed by any of the keys in the metadata", async () => {
    const next = providerKey();
    const metadata = providerMetadata(provider.entityId, provider.signOnUrl, [
      provider.key.certificate,
      next.certificate,
    ]);
    const at = runtime.configured(settings({ metadata }));
    expect(await submit({ key: next }, { at })).toMatchObject(facts);
    expect(await submit({}, { at })).toMatchObject(facts);
  });

  test("with line breaks in its base64, an XML declaration and a byte order mark", async () => {
    const plain = await provider.answer({ ...sp, inResponseTo: "_request" });
    const xml = Buffer.from(plain, "base64").toString();
    const dressed = `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\r\n${xml}\n`;
    const samlResponse = (
      Buffer.from(dressed)
        .toString("base64")
        .match(/.{1,76}/g) ?? []
    ).join("\r\n");
    const taken = completeSamlSignIn(
      { runtime, tenant: runtime.tenant },
      { samlResponse, request: request() },
      now(),
    );
    expect(await taken).toMatchObject({ facts, session: null });
  });

  test("that is unsolicited, if the provider may send such", async () => {
    expect(await submit({}, { asked: null })).toMatchObject(facts);
  });

  test("with facts about the user", async () => {
    const at = runtime.configured(
      settings({
        skip_email_verification: true,
        satisfies_mfa: true,
        attribute_map: { given_name: "vorname" },
      }),
    );
    const attributes = {
      "urn:oid:0.9.2342.19200300.100.1.3": "Ada@Example.org",
      vorname: "Ada",
      "urn:oid:2.5.4.4": "Lovelace &amp; Co",
      groups: ["a", "b"],
    };
    expect(await submit({ attributes }, { at })).toEqual({
      ...facts,
      email: "ada@example.org",
      emailVerified: true,
      givenName: "Ada",
      familyName: "Lovelace & Co",
      satisfiesMfa: true,
      skipEmailVerification: true,
    });
  });
});

describe("A59 rejects a response", () => {
  const cases: [string, Partial<Answer>, string][] = [
    ["for another audience", { audience: "http://localhost:3001" }, "audience"],
    ["for no audience", { audience: null }, "saml:Conditions contains saml:AudienceRestriction 0 times"],
    ["for another recipient", { recipient: "https://evil.example/saml/callback" }, "recipient"],
    ["for no recipient", { recipient: null }, "recipient"],
    ["for another destination", { destination: "https://evil.example/saml/callback" }, "destination"],
    ["signed and for no destination", { destination: null, sign: "response" }, "destination"],
    ["to another request", { inResponseTo: "_another" }, "in_response_to"],
    ["to no request", { inResponseTo: null }, "in_response_to"],
    ["that has expired", { notBefore: ago(9), notOnOrAfter: ago(1.1) }, "subject_confirmation_time"],
    ["that does not expire", { notOnOrAfter: null }, "subject_confirmation_time"],
    ["from the future", { notBefore: ago(-1.1) }, "conditions_time"],
    ["issued in the future", { issuedAt: ago(-1.1) }, "issue_instant"],
    ["of an expired session", { sessionNotOnOrAfter: ago(1.1) }, "authn_statement"],
    ["with a sign-in in the future", { authenticatedAt: ago(-1.1) }, "authn_statement"],
    ["by another issuer", { issuer: "https://other.example/saml" }, "issuer"],
    ["without a signature", { sign: "none" }, "nothing is signed"],
    ["by another key", { key: providerKey() }, "signature"],
    ["without a subject", { nameId: " " }, "name_id"],
    [
      "with a transient subject",
      { nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" },
      "no_subject",
    ],
  ];

  test.each(cases)("%s", async (_, about, reason) => {
    expect(await reasonOf(submit(about))).toBe(reason);
  });

  test.each([
    ["an expired one, within the tolerance for clocks", { notOnOrAfter: ago(0.9) }],
    ["one that is not yet valid, within the tolerance for clocks", { notBefore: ago(-0.9) }],
  ])("but not %s", async (_, about) => {
    expect(await submit(about)).toMatchObject({ subject: "u-1" });
  });

  test("that was already used, also concurrently", async () => {
    const samlResponse = await provider.answer({ ...sp, inResponseTo: "_request" });
    const submitOne = () =>
      completeSamlSignIn({ runtime, tenant: runtime.tenant }, { samlResponse, request: request() }, now());
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        submitOne().then(
          () => "accepted",
          (error: unknown) => (error as ThirdPartyError).reason,
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual(["accepted", ...Array(9).fill("replay")]);
    expect(await reasonOf(submitOne())).toBe("replay");
  });

  test("that is unsolicited, if the provider may not send such", async () => {
    const at = runtime.configured(settings({ allow_idp_initiated: false }));
    expect(await reasonOf(submit({}, { asked: null, at }))).toBe("unsolicited");
  });

  test("that answers a request but arrives without one", async () => {
    expect(await reasonOf(submit({ inResponseTo: "_request" }, { asked: null }))).toBe("in_response_to");
  });

  test("of a provider that was not asked, is unknown or is disabled", async () => {
    const other = samlIdentityProvider({ entityId: "https://other.example/saml" });
    const second = { name: "other", domains: ["other.example"], metadata: other.metadata };
    const at = runtime.configured(settings({}, second));
    const samlResponse = await other.answer({ ...sp, inResponseTo: "_request" });
    const submitOther = (asked: ThirdPartyRequest | null, at: TestRuntime) =>
      completeSamlSignIn({ runtime: at, tenant: at.tenant }, { samlResponse, request: asked }, now());
    expect(await reasonOf(submitOther(request(), at))).toBe("signature");
    expect(await reasonOf(submitOther(null, runtime))).toBe("unknown_issuer");
    const off = runtime.configured(settings({}, { ...second, enabled: false }));
    expect(await reasonOf(submitOther(request({ provider: `saml:${other.entityId}` }), off))).toBe(
      "unknown_issuer",
    );
    // The same key under the name of another provider.
    expect(await reasonOf(submit({ key: other.key }, { at }))).toBe("signature");
  });

  test("without a new sign-in, if that is demanded", async () => {
    const at = runtime.configured({ ...settings(), STILE_SAML_OPTIONS_FORCE_LOGIN: "true" });
    expect(await reasonOf(submit({ authenticatedAt: ago(5) }, { at }))).toBe("authn_statement");
    expect(await submit({}, { at })).toMatchObject({ subject: "u-1" });
  });
});

test("A58 a subject with spaces outside XML's white space is another subject", async () => {
  const email = "ada@example.org";
  for (const nameId of ["u-1\u00a0", "\ufeffu-1", "u-1\u2003"])
    expect(await submit({ nameId })).toMatchObject({ subject: nameId });
  expect(await submit({ nameId: " \n u-1 &#13;\t" })).toMatchObject({ subject: "u-1" });
  const at = runtime.configured(settings({ attribute_map: { subject: "uid" } }));
  const attributes = { uid: "u-1\u00a0", email: ` ${email}\n` };
  expect(await submit({ attributes }, { at })).toMatchObject({ subject: "u-1\u00a0", email });
});

describe("A60 rejects a response", () => {
  test("with an error status, signed or not", async () => {
    const status = "urn:oasis:names:tc:SAML:2.0:status:Responder";
    for (const sign of ["response", "none", "both"] as const) {
      const outcome = submit({ status, sign });
      expect(await reasonOf(outcome)).toBe("status_not_success");
      await expect(outcome).rejects.toMatchObject({ code: "access_denied" });
    }
  });

  test.each([
    ["SHA-1", { signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }],
    ["a digest by SHA-1", { digestAlgorithm: "http://www.w3.org/2000/09/xmldsig#sha1" }],
    ["HMAC", { signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#hmac-sha1" }],
    ["another canonical form", { canonicalForm: "http://www.w3.org/TR/2001/REC-xml-c14n-20010315" }],
  ])("signed by %s", async (_, about) => {
    expect(await reasonOf(submit(about))).toMatch(/names an algorithm that is not accepted/);
  });

  test("signed by the key of its own KeyInfo", async () => {
    // The signature is valid for the certificate in KeyInfo.
    expect(await reasonOf(submit({ key: providerKey("identity provider") }))).toBe("signature");
  });

  test.each([
    "http://www.w3.org/2001/04/xmlenc#aes256-cbc",
    "http://www.w3.org/2001/04/xmlenc#tripledes-cbc",
  ])("encrypted by %s without a signature around it", async (cipher) => {
    expect(await reasonOf(submit({ encryptFor: certificate, cipher }))).toMatch(
      /not authenticated|not accepted/,
    );
  });

  test("encrypted with padding that allows a padding oracle", async () => {
    const keyTransport = "http://www.w3.org/2001/04/xmlenc#rsa-1_5";
    expect(await reasonOf(submit({ encryptFor: certificate, keyTransport }))).toMatch(/not accepted/);
  });

  test.each([
    ["mask", { keyDigest: "sha256", keyMask: "http://www.w3.org/2009/xmlenc11#mgf1sha512" }],
    ["digest", { keyDigest: "sha512", keyMask: "http://www.w3.org/2009/xmlenc11#mgf1sha256" }],
  ])("encrypted with a %s that is not listed", async (_, about) => {
    const keyTransport = "http://www.w3.org/2009/xmlenc11#rsa-oaep";
    for (const sign of ["assertion", "response"] as const)
      expect(await reasonOf(submit({ encryptFor: certificate, keyTransport, sign, ...about }))).toMatch(
        /not accepted/,
      );
  });

  test("encrypted for another key, or damaged", async () => {
    const foreign = providerKey().certificate;
    expect(await reasonOf(submit({ encryptFor: foreign }))).toMatch(/cannot be decrypted/);
    expect(await reasonOf(submit({ encryptFor: foreign, sign: "response" }))).toMatch(/cannot be decrypted/);
    const tamper = (xml: string) => {
      const at = xml.lastIndexOf("</xenc:CipherValue>") - 30;
      return xml.slice(0, at) + (xml[at] === "A" ? "B" : "A") + xml.slice(at + 1);
    };
    expect(await reasonOf(submit({ encryptFor: certificate, tamper }))).toMatch(/cannot be decrypted/);
  });
});

describe("a provider that changes its key", () => {
  const address = "https://idp.example.org/metadata";

  /** A runtime that reads the metadata from an address, which states the certificates of the last call. */
  function published(certificates: string[], allowIdpInitiated = true) {
    const at = runtime.configured(
      settings({ metadata: undefined, metadata_url: address, allow_idp_initiated: allowIdpInitiated }),
    );
    const state = { certificates, readings: 0 };
    providerNetwork(at).fetch = async () => {
      state.readings += 1;
      return new Response(providerMetadata(provider.entityId, provider.signOnUrl, state.certificates));
    };
    return { at, state };
  }

  test("signs in with the same response, also several users at once", async () => {
    const next = providerKey();
    const { at, state } = published([provider.key.certificate]);
    await submit({}, { at });
    expect(state.readings).toBe(1);
    state.certificates = [next.certificate];
    const facts = await Promise.all([submit({ key: next }, { at }), submit({ key: next }, { at })]);
    expect(facts.map(({ subject }) => subject)).toEqual(["u-1", "u-1"]);
    expect(state.readings).toBe(2);
    expect(await reasonOf(submit({}, { at }))).toBe("signature");
  });

  test("A158 is asked for its metadata once in ten seconds, however many responses are forged", async () => {
    const forged = providerKey();
    const { at, state } = published([provider.key.certificate]);
    await submit({}, { at });
    for (let times = 0; times < 5; times += 1)
      for (const asked of [request(), null])
        expect(await reasonOf(submit({ key: forged }, { at, asked }))).toBe("signature");
    expect(state.readings).toBe(2);
    const later = { inResponseTo: "_request", key: forged };
    const samlResponse = await provider.answer({ ...sp, ...later });
    const context = { runtime: at, tenant: at.tenant };
    const soon = new Date(fixedTime.getTime() + 10_000);
    expect(await reasonOf(completeSamlSignIn(context, { samlResponse, request: request() }, soon))).toBe(
      "signature",
    );
    expect(state.readings).toBe(3);
    expect(await submit({}, { at })).toMatchObject({ subject: "u-1" });
  });

  test("A158 is not asked for responses that are rejected unverified", async () => {
    const { at, state } = published([provider.key.certificate], false);
    await submit({}, { at });
    expect(await reasonOf(submit({ key: providerKey() }, { at, asked: null }))).toBe("unsolicited");
    expect(state.readings).toBe(1);
  });
});
