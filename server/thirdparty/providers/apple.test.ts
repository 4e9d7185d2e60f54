import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";
import { clientSecret } from "./apple.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const settings = {
  STILE_THIRD_PARTY_PROVIDERS_APPLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_APPLE_CLIENT_ID: "com.example.login",
  STILE_THIRD_PARTY_PROVIDERS_APPLE_TEAM_ID: "TEAM123456",
  STILE_THIRD_PARTY_PROVIDERS_APPLE_KEY_ID: "KEY1234567",
  STILE_THIRD_PARTY_PROVIDERS_APPLE_PRIVATE_KEY: pem,
};

const runtime = await runtimeForTests(settings);

const claims = {
  iss: "https://appleid.apple.com",
  aud: "com.example.login",
  sub: "001473.fe6f33bf4b8e4590aacbabdcb8598bd0.2039",
  at_hash: "FNPgzrPYSUwiC5R_c_mUwQ",
  email: "x7k9@privaterelay.appleid.com",
  email_verified: "true",
  is_private_email: "true",
  auth_time: 1_700_000_000,
  nonce_supported: true,
};

const signIn = (more: { claims?: Record<string, unknown>; callback?: Record<string, string> } = {}) =>
  signInAt(runtime, "apple", {
    answers: {
      "https://appleid.apple.com/auth/token": {
        access_token: "a1b2",
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: "r3",
      },
    },
    idToken: { keys: "https://appleid.apple.com/auth/keys", claims: { ...claims, ...more.claims } },
    ...(more.callback ? { callback: more.callback } : {}),
  });

const userParameter = JSON.stringify({
  name: { firstName: "Ada", lastName: "Lovelace" },
  email: "evil@example.com",
});

test("reads the facts from the ID token, and the name from the parameter user", async () => {
  const { url, facts } = await signIn({ callback: { user: userParameter } });
  expect(url.origin + url.pathname).toBe("https://appleid.apple.com/auth/authorize");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_mode: "form_post",
    scope: "openid name email",
  });
  expect(facts).toEqual({
    provider: "apple",
    subject: "001473.fe6f33bf4b8e4590aacbabdcb8598bd0.2039",
    email: "x7k9@privaterelay.appleid.com",
    emailVerified: true,
    name: "Ada Lovelace",
    givenName: "Ada",
    familyName: "Lovelace",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test.each([
  ["absent, as from the second sign-in on", undefined],
  ["not JSON", "{"],
  ["not an object", '"Ada"'],
  ["an object whose names are not text", '{"name":{"firstName":1,"lastName":{}}}'],
  ["an object without names", '{"name":{}}'],
])("reads no name if the parameter user is %s", async (_, user) => {
  const { facts } = await signIn(user === undefined ? {} : { callback: { user } });
  expect(facts).not.toHaveProperty("name");
  expect(facts).not.toHaveProperty("givenName");
});

test.each<[unknown, boolean]>([
  [true, true],
  ["true", true],
  [false, false],
  ["false", false],
  [undefined, false],
])("A43 reads email_verified %j as %s", async (email_verified, emailVerified) => {
  expect((await signIn({ claims: { email_verified } })).facts).toMatchObject({ emailVerified });
});

describe("the client secret", () => {
  const of = (more: Record<string, string | undefined> = {}) =>
    clientSecret({ ...runtime.config.third_party.providers.apple, ...more });

  test("is a JWT signed with the team's key", async () => {
    const { asked } = await signIn();
    const secret = asked[0]?.form.get("client_secret") ?? "";
    const { payload, protectedHeader } = await jwtVerify(
      secret,
      createPublicKey(publicKey.export({ type: "spki", format: "pem" })),
      {
        issuer: "TEAM123456",
        subject: "com.example.login",
        audience: "https://appleid.apple.com",
      },
    );
    expect(protectedHeader).toEqual({ alg: "ES256", kid: "KEY1234567" });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
  });

  test("accepts a private key on one line", async () => {
    await expect(of({ private_key: pem.replaceAll("\n", "\\n") })).resolves.toContain(".");
  });

  test("is the configured secret if there is one", async () => {
    expect(await of({ secret: "configured" })).toBe("configured");
  });

  test("is rejected if a part is missing or the key is invalid", async () => {
    await expect(of({ team_id: undefined })).rejects.toThrow("apple needs");
    await expect(of({ private_key: "no key" })).rejects.toThrow();
  });
});
