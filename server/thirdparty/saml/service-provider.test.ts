import { X509Certificate } from "node:crypto";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { RELAY_STATE_PREFIX, redirectByDomain, samlReturnUrl, startSamlRequest } from "./authn-request.ts";
import { childOf, childrenOf } from "./response-schema.ts";
import { samlKey } from "./saml-keys.ts";
import { serviceProviderMetadata } from "./service-provider-metadata.ts";
import { readXml } from "./xml.ts";

const provider = samlIdentityProvider({ signOnUrl: "https://idp.example.org/sso?realm=a&amp;b" });
const settings = {
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    { name: "example", domains: ["example.org"], metadata: provider.metadata },
  ]),
};
const redirectTo = "http://localhost:3000/";

const runtime = await runtimeForTests(settings);

const scopeOf = (at: TestRuntime) => ({ runtime: at, tenant: at.tenant, now: new Date() });

test("concurrent callers create one key, which is kept", async () => {
  const deployment = { runtime, tenant: runtime.tenant };
  const keys = await Promise.all(Array.from({ length: 4 }, () => samlKey(deployment, "saml_signing")));
  const [first] = keys;
  expect(new Set(keys.map(({ certificate }) => certificate)).size).toBe(1);
  const stored = await runtime.database.read
    .select()
    .from(schema.signingKeys)
    .where(eq(schema.signingKeys.purpose, "saml_signing"));
  expect(stored).toHaveLength(1);
  expect((await samlKey(deployment, "saml_encryption")).certificate).not.toBe(first?.certificate);
  // The keys of sessions are separate: SAML keys are not published with them.
  const published = (await runtime.signingKeys.of(runtime.tenant).jwks()).keys.map(({ kid }) => kid);
  expect(published).not.toContain(stored[0]?.id);
});

test("a certificate is self-signed by its key", async () => {
  const { certificate, privateKey } = await samlKey({ runtime, tenant: runtime.tenant }, "saml_signing");
  const parsed = new X509Certificate(certificate);
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.checkPrivateKey(privateKey)).toBe(true);
  expect(parsed.checkIssued(parsed)).toBe(true);
  expect(parsed.subject).toBe("CN=SAML signing");
  expect(parsed.validFromDate.getTime()).toBeLessThanOrEqual(Date.now());
  expect(parsed.validToDate.getUTCFullYear()).toBeGreaterThanOrEqual(new Date().getUTCFullYear() + 19);
});

test("a request states its id, the issuer and the addresses, and is signed", async () => {
  const { redirectUrl, state, cookieChanges } = await startSamlRequest(
    scopeOf(runtime),
    runtime.config.saml.identity_providers[0] as never,
    { flowId: null, redirectTo },
  );
  expect(redirectUrl).toMatch(/^https:\/\/idp\.example\.org\/sso\?realm=a&b=&SAMLRequest=/);
  const request = provider.read(redirectUrl);
  expect(request).toMatchObject({
    id: expect.stringMatching(/^_[0-9a-f]{40}$/),
    issuer: "http://localhost:3000",
    consumerUrl: "http://localhost:3000/saml/callback",
    destination: "https://idp.example.org/sso?realm=a&amp;b",
    forceAuthn: false,
    relayState: RELAY_STATE_PREFIX + state,
  });
  expect(Buffer.byteLength(request.relayState)).toBeLessThanOrEqual(80);
  const { certificate } = await samlKey({ runtime, tenant: runtime.tenant }, "saml_signing");
  expect(request.isSignedBy(certificate.toString())).toBe(true);
  expect(cookieChanges).toEqual({ thirdPartyState: { value: state, seconds: 600 } });
});

test("a request is unsigned, or demands a new sign-in, if configured so", async () => {
  const at = runtime.configured({
    ...settings,
    STILE_SAML_OPTIONS_SIGN_AUTHN_REQUESTS: "false",
    STILE_SAML_OPTIONS_FORCE_LOGIN: "true",
    STILE_SAML_ENDPOINT_URL: "https://login.example.com/",
  });
  const sent = await redirectByDomain(scopeOf(at), {
    flowId: crypto.randomUUID(),
    email: "ada@example.org",
    redirectTo,
  });
  const request = provider.read(sent?.redirectUrl ?? "");
  expect(new URL(sent?.redirectUrl ?? "").searchParams.has("Signature")).toBe(false);
  expect(request).toMatchObject({
    forceAuthn: true,
    issuer: "https://login.example.com",
    consumerUrl: "https://login.example.com/saml/callback",
  });
});

test("an address in a domain without a provider is not redirected", async () => {
  for (const email of ["ada@example.com", "ada@sub.example.org", "ada@xexample.org"])
    expect(
      await redirectByDomain(scopeOf(runtime), { flowId: crypto.randomUUID(), email, redirectTo }),
    ).toBeNull();
});

test("users return to the requesting page, if its origin is allowed", () => {
  const at = runtime.configured({
    ...settings,
    STILE_CORS_ALLOW_ORIGINS: "https://app.example.com",
    STILE_SAML_DEFAULT_REDIRECT_URL: "https://portal.example.com/in",
  });
  const from = (origin: string | null) => samlReturnUrl({ client: { origin } as never, tenant: at.tenant });
  expect(from("https://app.example.com")).toBe("https://app.example.com/");
  expect(from(null)).toBe("https://portal.example.com/in");
  for (const origin of ["http://localhost:3000", "null", "https://evil.example"])
    expect(from(origin)).toBe("http://localhost:3000/");
});

test("our metadata states the entity id, the demanded signatures and the certificates", async () => {
  const deployment = { runtime, tenant: runtime.tenant };
  const keys = {
    signing: await samlKey(deployment, "saml_signing"),
    encryption: await samlKey(deployment, "saml_encryption"),
  };
  const at = runtime.configured({
    ...settings,
    STILE_SAML_ENDPOINT_URL: "https://login.example.com/?a=1&b=<2",
  });
  const document = serviceProviderMetadata(at.config, keys, { attribute_map: { name: "cn&1" } });
  const entity = readXml(document, { bytes: 100_000, elements: 100, comments: false });
  expect(entity.kind).toBe("md:EntityDescriptor");
  expect(entity.attributes.get("entityID")).toBe("https://login.example.com/?a=1&b=<2");
  const role = childOf(entity, "md:SPSSODescriptor");
  if (!role) throw new Error("there is no role");
  expect(Object.fromEntries(role.attributes)).toMatchObject({
    AuthnRequestsSigned: "true",
    WantAssertionsSigned: "true",
  });
  const certificates = childrenOf(role, "md:KeyDescriptor").map((descriptor) => {
    const data = childOf(childOf(descriptor, "ds:KeyInfo"), "ds:X509Data");
    const text = childOf(data, "ds:X509Certificate")?.text ?? "";
    return [descriptor.attributes.get("use"), new X509Certificate(Buffer.from(text, "base64")).toString()];
  });
  expect(certificates).toEqual([
    ["signing", keys.signing.certificate],
    ["encryption", keys.encryption.certificate],
  ]);
});

test("our metadata lists the algorithms of encryption that are understood, and requests the attributes that are read", async () => {
  const deployment = { runtime, tenant: runtime.tenant };
  const keys = {
    signing: await samlKey(deployment, "saml_signing"),
    encryption: await samlKey(deployment, "saml_encryption"),
  };
  const xml = (more: Record<string, string>, encryption: typeof keys.encryption | null = keys.encryption) =>
    serviceProviderMetadata(
      runtime.configured({ ...settings, STILE_SERVICE_NAME: "A & B", ...more }).config,
      { ...keys, encryption },
      { attribute_map: { name: "full&name" } },
    );
  const read = (document: string) => {
    const entity = readXml(document, { bytes: 100_000, elements: 100, comments: false });
    const role = childOf(entity, "md:SPSSODescriptor");
    if (!role) throw new Error("there is no role");
    return role;
  };
  const role = read(xml({}));
  const [, offered] = childrenOf(role, "md:KeyDescriptor");
  const methods = offered ? childrenOf(offered, "md:EncryptionMethod") : [];
  const short = (name: string | undefined) => name?.replace(/^.*#/, "");
  expect(
    methods.map((method) =>
      [method, ...method.children].map(({ attributes }) => short(attributes.get("Algorithm"))).join(" "),
    ),
  ).toEqual([
    "aes256-gcm",
    "aes128-gcm",
    "rsa-oaep sha256 mgf1sha256",
    "rsa-oaep sha256 mgf1sha1",
    "rsa-oaep-mgf1p sha256",
    "rsa-oaep-mgf1p sha1",
  ]);
  const service = childOf(role, "md:AttributeConsumingService");
  expect(childOf(service, "md:ServiceName")?.text).toBe("A & B");
  const requested = (at: typeof service) =>
    (at ? childrenOf(at, "md:RequestedAttribute") : []).map(({ attributes }) => [
      attributes.get("Name"),
      attributes.get("isRequired"),
    ]);
  expect(requested(service)).toEqual([
    ["urn:oid:0.9.2342.19200300.100.1.3", "true"],
    ["full&name", "false"],
    ["urn:oid:2.5.4.42", "false"],
    ["urn:oid:2.5.4.4", "false"],
  ]);
  const optional = childOf(read(xml({ STILE_EMAIL_OPTIONAL: "true" })), "md:AttributeConsumingService");
  expect(requested(optional)[0]?.[1]).toBe("false");
  const uses = childrenOf(read(xml({}, null)), "md:KeyDescriptor").map(({ attributes }) =>
    attributes.get("use"),
  );
  expect(uses).toEqual(["signing"]);
});
