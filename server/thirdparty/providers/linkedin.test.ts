import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_LINKEDIN_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_LINKEDIN_CLIENT_ID: "77hgjxyw",
  STILE_THIRD_PARTY_PROVIDERS_LINKEDIN_SECRET: "secret",
});

const claims = {
  iss: "https://www.linkedin.com/oauth",
  aud: "77hgjxyw",
  sub: "782bbtaQ",
  name: "Ada Lovelace",
  given_name: "Ada",
  family_name: "Lovelace",
  picture: "https://media.licdn.com/dms/image/ada",
  locale: "en_US",
  email: "ada@example.com",
  email_verified: "true",
};

const signIn = (more: Record<string, unknown> = {}) =>
  signInAt(runtime, "linkedin", {
    answers: {
      "https://www.linkedin.com/oauth/v2/accessToken": {
        access_token: "AQX",
        expires_in: 5_183_999,
        scope: "email,openid,profile",
        token_type: "Bearer",
      },
    },
    idToken: {
      keys: "https://www.linkedin.com/oauth/openid/jwks",
      claims: { ...claims, ...more },
      nonce: false,
    },
  });

test("reads the facts from an ID token without a nonce", async () => {
  const { url, facts } = await signIn();
  expect(url.origin + url.pathname).toBe("https://www.linkedin.com/oauth/v2/authorization");
  expect(facts).toEqual({
    provider: "linkedin",
    subject: "782bbtaQ",
    email: "ada@example.com",
    emailVerified: true,
    name: "Ada Lovelace",
    givenName: "Ada",
    familyName: "Lovelace",
    picture: "https://media.licdn.com/dms/image/ada",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test("sends no code challenge and no verifier, because LinkedIn rejects them", async () => {
  const { url, asked } = await signIn();
  expect(url.searchParams.has("code_challenge")).toBe(false);
  expect(asked[0]?.form.has("code_verifier")).toBe(false);
  expect(asked[0]?.form.get("client_secret")).toBe("secret");
});

test.each([[false], ["false"], [undefined]])(
  "A43 takes an address with email_verified %j as unverified",
  async (email_verified) => {
    expect((await signIn({ email_verified })).facts).toMatchObject({ emailVerified: false });
  },
);
