import { describe, expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";
import { providerNetwork } from "../provider-fetch.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_MICROSOFT_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_MICROSOFT_CLIENT_ID: "6731de76-14a6-49ae-97bc-6eba6914391e",
  STILE_THIRD_PARTY_PROVIDERS_MICROSOFT_SECRET: "secret",
});

const directory = "b9410318-09af-49c2-b0c3-653adc1f376e";

const claims = {
  ver: "2.0",
  iss: `https://login.microsoftonline.com/${directory}/v2.0`,
  aud: "6731de76-14a6-49ae-97bc-6eba6914391e",
  sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
  name: "Ada Lovelace",
  oid: "00000000-0000-0000-66f3-3332eca7ea81",
  preferred_username: "ada@example.com",
  email: "ada@example.com",
  tid: directory,
  rh: "0.AAAA",
  uti: "x",
};

const metadata = (issuer = "https://login.microsoftonline.com/{tenantid}/v2.0") => ({
  issuer,
  authorization_endpoint: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
  token_endpoint: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
  token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt", "client_secret_basic"],
  jwks_uri: "https://login.microsoftonline.com/common/discovery/v2.0/keys",
  response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
  subject_types_supported: ["pairwise"],
  id_token_signing_alg_values_supported: ["RS256"],
});

const signIn = (more: Record<string, unknown> = {}, document = metadata(), at = runtime) => {
  providerNetwork(at).documents.clear();
  const { tenant } = at.config.third_party.providers.microsoft;
  return signInAt(at, "microsoft", {
    answers: {
      [`https://login.microsoftonline.com/${tenant}/v2.0/.well-known/openid-configuration`]: document,
      [document.token_endpoint]: {
        token_type: "Bearer",
        scope: "openid profile email",
        expires_in: 3736,
        ext_expires_in: 3736,
        access_token: "eyJ0",
      },
    },
    idToken: { keys: document.jwks_uri, claims: { ...claims, ...more } },
  });
};

test("reads the facts from the ID token of any directory", async () => {
  const { url, facts } = await signIn();
  expect(url.origin + url.pathname).toBe("https://login.microsoftonline.com/common/oauth2/v2.0/authorize");
  expect(facts).toEqual({
    provider: "microsoft",
    subject: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
    email: "ada@example.com",
    emailVerified: false,
    name: "Ada Lovelace",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

describe("the address", () => {
  test.each<[string, Record<string, unknown>, boolean]>([
    ["is unverified by default", {}, false],
    ["is unverified if absent", { email: undefined }, false],
    ["is verified by xms_edov true", { xms_edov: true }, true],
    ["is verified by xms_edov as a number", { xms_edov: 1 }, true],
    ["is verified by xms_edov as text", { xms_edov: "1" }, true],
    ["is unverified by xms_edov false", { xms_edov: false }, false],
    ["is unverified by xms_edov 0 as text", { xms_edov: "0" }, false],
    ["is verified by email_verified true", { email_verified: true }, true],
    ["is unverified by email_verified as text", { email_verified: "true" }, false],
  ])("A43 %s", async (_, more, emailVerified) => {
    expect((await signIn(more)).facts).toMatchObject({ emailVerified });
  });

  test("is never read from preferred_username", async () => {
    expect((await signIn({ email: undefined, xms_edov: true })).facts).toMatchObject({ email: null });
  });
});

test("A48 rejects the issuer of a directory other than the token's", async () => {
  const foreign = { iss: "https://login.microsoftonline.com/11111111-1111-1111-1111-111111111111/v2.0" };
  await expect(signIn(foreign)).rejects.toMatchObject({ code: "invalid_request" });
});

test("accepts only users of the configured directory", async () => {
  const own = runtime.configured({ STILE_THIRD_PARTY_PROVIDERS_MICROSOFT_TENANT: directory });
  const document = metadata(`https://login.microsoftonline.com/${directory}/v2.0`);
  await expect(signIn({}, document, own)).resolves.toBeDefined();
  const other = "11111111-1111-1111-1111-111111111111";
  const foreign = { tid: other, iss: `https://login.microsoftonline.com/${other}/v2.0` };
  await expect(signIn(foreign, document, own)).rejects.toMatchObject({ code: "invalid_request" });
});
