import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "client.apps.googleusercontent.com",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_PROMPT: "select_account",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SATISFIES_MFA: "true",
});

const claims = {
  iss: "https://accounts.google.com",
  azp: "client.apps.googleusercontent.com",
  aud: "client.apps.googleusercontent.com",
  sub: "110169484474386276334",
  email: "Ada@gmail.com",
  email_verified: true,
  at_hash: "HK6E_P6Dh8Y93mRNtsDB1Q",
  name: "Ada Lovelace",
  picture: "https://lh3.googleusercontent.com/a/ada=s96-c",
  given_name: "Ada",
  family_name: "Lovelace",
};

const signIn = (more: Record<string, unknown> = {}) =>
  signInAt(runtime, "google", {
    answers: {
      "https://oauth2.googleapis.com/token": {
        access_token: "ya29.a0",
        expires_in: 3599,
        scope: "openid https://www.googleapis.com/auth/userinfo.email",
        token_type: "Bearer",
      },
    },
    idToken: { keys: "https://www.googleapis.com/oauth2/v3/certs", claims: { ...claims, ...more } },
  });

test("reads the facts from the ID token", async () => {
  const { url, facts, asked } = await signIn();
  expect(url.origin + url.pathname).toBe("https://accounts.google.com/o/oauth2/v2/auth");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    scope: "openid email profile",
    prompt: "select_account",
    code_challenge_method: "S256",
  });
  expect(asked.map(({ address }) => address)).toEqual([
    "https://oauth2.googleapis.com/token",
    "https://www.googleapis.com/oauth2/v3/certs",
  ]);
  expect(asked[0]?.form.get("client_secret")).toBe("secret");
  expect(facts).toEqual({
    provider: "google",
    subject: "110169484474386276334",
    email: "ada@gmail.com",
    emailVerified: true,
    name: "Ada Lovelace",
    givenName: "Ada",
    familyName: "Lovelace",
    picture: "https://lh3.googleusercontent.com/a/ada=s96-c",
    satisfiesMfa: true,
    skipEmailVerification: false,
  });
});

test.each([[false], ["false"], [undefined], [null], [1]])(
  "A43 takes an address with email_verified %j as unverified",
  async (email_verified) => {
    expect((await signIn({ email_verified })).facts).toMatchObject({ emailVerified: false });
  },
);

test("rejects an issuer without its scheme", async () => {
  await expect(signIn({ iss: "accounts.google.com" })).rejects.toMatchObject({ code: "invalid_request" });
});
