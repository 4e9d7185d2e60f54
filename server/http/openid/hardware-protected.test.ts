import { createHash, randomUUID, X509Certificate } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { type Certificate, makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { metadataBlob } from "../../testing/authenticator-metadata.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { type Attestation, packedAttestation } from "../../testing/webauthn-statements.ts";
import { readAuthenticatorMetadata } from "../../webauthn/authenticator-metadata.ts";

/** `acr` `phrh`: a passkey whose attestation proves that its key stays in a hardware authenticator. */

const returnTo = "https://app.example.com/callback";
const verifier = "v".repeat(43);
const vendor = makeAuthority("Vendor");
const stranger = makeAuthority("Stranger");
const hardware = "aaaaaaaa-0000-4000-8000-000000000001";
const software = "bbbbbbbb-0000-4000-8000-000000000002";
const silent = "cccccccc-0000-4000-8000-000000000003";
const revoked = "dddddddd-0000-4000-8000-000000000004";

const base = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({ shop: { name: "The shop", redirect_uris: [returnTo] } }),
  STILE_PASSKEY_ATTESTATION_PREFERENCE: "direct",
  STILE_MFA_ENABLED: "false",
});

const protections: [string, string[] | undefined, string][] = [
  [hardware, ["hardware", "secure_element"], "FIDO_CERTIFIED"],
  [software, ["software"], "FIDO_CERTIFIED"],
  [silent, undefined, "FIDO_CERTIFIED"],
  [revoked, ["hardware"], "REVOKED"],
];

/** The list of authenticator models, and a server that has read it. */
async function serverWithModels(
  changed: Record<string, string> = {},
  corrected: Record<string, string[]> = {},
): Promise<TestRuntime> {
  const signer = makeCertificate({ subject: { CN: "Signer" }, issuer: vendor });
  const attestationRootCertificates = [vendor.der.toString("base64")];
  const entries = protections.map(([aaguid, stated, status]) => {
    const keyProtection = corrected[aaguid] ?? stated;
    return {
      aaguid,
      metadataStatement: { attestationRootCertificates, ...(keyProtection ? { keyProtection } : {}) },
      statusReports: [status, changed[aaguid]].flatMap((each) => (each ? [{ status: each }] : [])),
    };
  });
  const verdict = await readAuthenticatorMetadata(
    await metadataBlob({ entries, nextUpdate: "2099-01-01", signer }),
    { issuer: { roots: [new X509Certificate(vendor.der)], signer: null }, now: new Date() },
  );
  if (!verdict.ok) throw new Error(verdict.reason);
  return { ...base, authenticatorMetadata: verdict.metadata };
}

const runtime = await serverWithModels();
const origin = base.config.base_url;

const bytesOf = (aaguid: string) => Buffer.from(aaguid.replaceAll("-", ""), "hex");

const attestedBy = (authority: Certificate): Attestation => packedAttestation({ authority });

interface Key {
  aaguid: string;
  attestation: Attestation | "packed" | "none";
  backup?: "no" | "backed-up";
}

/** A user who has registered a passkey, and signs in with it in another browser, at a server that may have another list. */
async function userWith({ aaguid, attestation, backup = "no" }: Key, at = runtime) {
  const authenticator = softwareAuthenticator({ aaguid: bytesOf(aaguid), attestation, backup });
  const email = `${randomUUID()}@example.com`;
  const flow = await restWalk(runtime, "registration");
  await flow.act("register_client_capabilities", { webauthn_available: true });
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: mailedCode(runtime, email) });
  while (flow.state.name !== "success") {
    if (flow.state.actions.webauthn_generate_creation_options)
      await flow.act("webauthn_generate_creation_options");
    else if (flow.state.actions.webauthn_verify_attestation_response)
      await flow.act("webauthn_verify_attestation_response", {
        public_key: authenticator.create(flow.state.payload.creation_options, { origin }),
      });
    else await flow.act("register_password", { new_password: password });
    expect(flow.response.status).toBe(200);
  }
  const browser = visitor(at);
  return {
    email,
    browser,
    async signIn() {
      const login = await restWalk(at, "login", browser);
      await login.act("register_client_capabilities", {
        webauthn_available: true,
        webauthn_conditional_mediation_available: true,
      });
      await login.act("webauthn_verify_assertion_response", {
        assertion_response: authenticator.get(login.state.payload.request_options, { origin }),
      });
      expect(login.state.name).toBe("success");
    },
    async signInByPassword() {
      const login = await restWalk(at, "login", browser);
      await login.act("register_client_capabilities");
      await login.act("continue_with_login_identifier", { email });
      await login.act("continue_to_password_login");
      await login.act("password_login", { password });
      expect(login.state.name).toBe("success");
    },
    /** Where a request leads the browser. */
    async ask(more: Record<string, string> = {}): Promise<URL> {
      const query = new URLSearchParams({
        client_id: "shop",
        redirect_uri: returnTo,
        response_type: "code",
        scope: "openid",
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        ...more,
      });
      const answer = await browser.request(`/oauth/authorize?${query}`);
      return new URL(answer.headers.get("location") ?? "");
    },
  };
}

/** The class in the ID token that a code gives. */
async function acrOf(back: URL): Promise<unknown> {
  const answer = await visitor(runtime).submit("/oauth/token", {
    client_id: "shop",
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    redirect_uri: returnTo,
    code_verifier: verifier,
  });
  return decodeJwt(((await answer.json()) as { id_token: string }).id_token).acr;
}

const attested: Key = { aaguid: hardware, attestation: attestedBy(vendor) };

test("A262 a passkey whose trusted attestation says that its key is in hardware is phrh", async () => {
  const user = await userWith(attested);
  await user.signIn();
  expect(await acrOf(await user.ask())).toBe("phrh");
  expect(await acrOf(await user.ask({ acr_values: "phrh" }))).toBe("phrh");
  expect(await acrOf(await user.ask({ acr_values: "phr phrh" }))).toBe("phr");
});

test.each<[string, Key]>([
  ["that is backed up", { ...attested, backup: "backed-up" }],
  ["without an attestation", { ...attested, attestation: "none" }],
  ["that attests itself", { ...attested, attestation: "packed" }],
  ["of another maker's root", { ...attested, attestation: attestedBy(stranger) }],
  ["of a model that keeps keys in software", { ...attested, aaguid: software }],
  ["of a model of which that is not known", { ...attested, aaguid: silent }],
  ["of a model that was revoked", { ...attested, aaguid: revoked }],
])("A262 a passkey %s is phr alone", async (_, key) => {
  const user = await userWith(key);
  await user.signIn();
  expect(await acrOf(await user.ask({ acr_values: "phr" }))).toBe("phr");
  expect(await acrOf(await user.ask())).toBe("phr");
  // It is asked for, once.
  expect((await user.ask({ acr_values: "phrh" })).pathname).toBe("/login");
});

test.each([
  "REVOKED",
  "ATTESTATION_KEY_COMPROMISE",
  "USER_KEY_REMOTE_COMPROMISE",
  "USER_KEY_PHYSICAL_COMPROMISE",
])(
  "A297 a passkey of a model of which the list says %s later is phr alone from the next sign-in on",
  async (status) => {
    const later = await serverWithModels({ [hardware]: status });
    const user = await userWith(attested, later);
    await user.signIn();
    expect(await acrOf(await user.ask())).toBe("phr");
    expect((await user.ask({ acr_values: "phrh" })).pathname).toBe("/login");
  },
);

test.each([[["software"]], [["software", "hardware"]], [["remote_handle"]]])(
  "A297 a passkey of a model whose keys are in %j by a later list is phr alone from the next sign-in on",
  async (keyProtection) => {
    const later = await serverWithModels({}, { [hardware]: keyProtection });
    const user = await userWith(attested, later);
    await user.signIn();
    expect(await acrOf(await user.ask())).toBe("phr");
    expect((await user.ask({ acr_values: "phrh" })).pathname).toBe("/login");
  },
);

test("a passkey stays phrh where the list says no harm of its model later, or there is no list", async () => {
  const servers = [
    await serverWithModels({ [hardware]: "UPDATE_AVAILABLE" }),
    await serverWithModels({}, { [hardware]: ["hardware"] }),
    await serverWithModels({}, { [hardware]: [] }),
    base,
  ];
  for (const later of servers) {
    const user = await userWith(attested, later);
    await user.signIn();
    expect(await acrOf(await user.ask())).toBe("phrh");
  }
});

test("A262 a passkey of before this was recorded is phr alone", async () => {
  const user = await userWith(attested);
  const { webauthnCredentials, emails } = schema;
  const [owner] = await base.database.read.select().from(emails).where(eq(emails.address, user.email));
  await base.database.write
    .update(webauthnCredentials)
    .set({ hardwareProtected: false })
    .where(and(eq(webauthnCredentials.userId, owner?.userId ?? "")));
  await user.signIn();
  expect(await acrOf(await user.ask())).toBe("phr");
});

test("a sign-in that is weaker is led to sign in again, and gives phrh then", async () => {
  const user = await userWith(attested);
  await user.signInByPassword();
  const page = await user.ask({ acr_values: "phrh" });
  expect([page.pathname, page.searchParams.get("acr_values")]).toEqual(["/login", "phrh"]);
  await base.database.write.update(schema.sessions).set({ authenticatedAt: new Date(Date.now() - 60_000) });
  await user.signIn();
  const resume = new URL(page.searchParams.get("redirect_to") ?? "").pathname;
  const back = new URL((await user.browser.request(resume)).headers.get("location") ?? "");
  expect(await acrOf(back)).toBe("phrh");
});

test("an application that cannot do without it is told that the sign-in does not give it", async () => {
  const user = await userWith({ ...attested, attestation: "none" });
  await user.signIn();
  const claims = JSON.stringify({ id_token: { acr: { essential: true, value: "phrh" } } });
  const page = await user.ask({ claims });
  expect(page.pathname).toBe("/login");
  await user.signIn();
  const resume = new URL(page.searchParams.get("redirect_to") ?? "").pathname;
  const back = new URL((await user.browser.request(resume)).headers.get("location") ?? "");
  expect(back.searchParams.get("error")).toBe("unmet_authentication_requirements");
});

test("the metadata of the provider names the class", async () => {
  const answer = await visitor(runtime).request("/.well-known/openid-configuration");
  const { acr_values_supported } = (await answer.json()) as { acr_values_supported: string[] };
  expect(acr_values_supported).toEqual(expect.arrayContaining(["phrh", "phr"]));
});
