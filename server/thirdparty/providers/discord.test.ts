import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_DISCORD_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_DISCORD_CLIENT_ID: "157730590492196864",
  STILE_THIRD_PARTY_PROVIDERS_DISCORD_SECRET: "secret",
});

const me = {
  id: "80351110224678912",
  username: "ada",
  discriminator: "0",
  global_name: "Ada Lovelace",
  avatar: "8342729096ea3675442027381ff50dfe",
  verified: true,
  email: "ada@example.com",
  flags: 64,
  locale: "en-GB",
};

const signIn = (more: Record<string, unknown> = {}) =>
  signInAt(runtime, "discord", {
    answers: {
      "https://discord.com/api/v10/oauth2/token": {
        access_token: "6qrZcUqja7812RVdnEKjpzOL4CvHBFG",
        token_type: "Bearer",
        expires_in: 604_800,
        refresh_token: "D43f",
        scope: "identify email",
      },
      "https://discord.com/api/v10/users/@me": { ...me, ...more },
    },
  });

test("reads the facts from /users/@me", async () => {
  const { url, facts, asked } = await signIn();
  expect(url.origin + url.pathname).toBe("https://discord.com/oauth2/authorize");
  expect(url.searchParams.get("scope")).toBe("identify email");
  expect(asked[1]?.headers.get("authorization")).toBe("Bearer 6qrZcUqja7812RVdnEKjpzOL4CvHBFG");
  expect(facts).toEqual({
    provider: "discord",
    subject: "80351110224678912",
    email: "ada@example.com",
    emailVerified: true,
    name: "Ada Lovelace",
    picture: "https://cdn.discordapp.com/avatars/80351110224678912/8342729096ea3675442027381ff50dfe.png",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test("falls back to the username, and leaves out an absent picture", async () => {
  const { facts } = await signIn({ global_name: null, avatar: null });
  expect(facts.name).toBe("ada");
  expect(facts).not.toHaveProperty("picture");
});

test.each([
  [
    "an unverified address as unverified",
    { verified: false },
    { email: "ada@example.com", emailVerified: false },
  ],
  ["an address without `verified` as unverified", { verified: undefined }, { emailVerified: false }],
  ["an absent address as none", { email: null }, { email: null, emailVerified: false }],
])("A43 reads %s", async (_, more, facts) => {
  expect((await signIn(more)).facts).toMatchObject(facts);
});
