import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "Iv1.8a61f9b3a7aba766",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "secret",
});

const user = {
  login: "ada",
  id: 583_231,
  node_id: "MDQ6VXNlcjU4MzIzMQ==",
  avatar_url: "https://avatars.githubusercontent.com/u/583231?v=4",
  type: "User",
  name: "Ada Lovelace",
  email: "public@example.com",
  two_factor_authentication: true,
};

const emails = [
  { email: "old@example.com", primary: false, verified: true, visibility: null },
  { email: "ada@example.com", primary: true, verified: true, visibility: "private" },
  { email: "583231+ada@users.noreply.github.com", primary: false, verified: true, visibility: null },
];

const signIn = (answers: { user?: object; emails?: unknown; token?: object } = {}) =>
  signInAt(runtime, "github", {
    answers: {
      "https://github.com/login/oauth/access_token": answers.token ?? {
        access_token: "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        token_type: "bearer",
        scope: "read:user,user:email",
      },
      "https://api.github.com/user": { ...user, ...answers.user },
      "https://api.github.com/user/emails": answers.emails ?? emails,
    },
  });

test("reads the facts from /user, and the address from /user/emails", async () => {
  const { url, facts, asked } = await signIn();
  expect(url.origin + url.pathname).toBe("https://github.com/login/oauth/authorize");
  expect(url.searchParams.get("scope")).toBe("read:user user:email");
  expect(asked[0]?.headers.get("accept")).toBe("application/json");
  expect(asked[1]?.headers.get("user-agent")).toBeTruthy();
  expect(facts).toEqual({
    provider: "github",
    subject: "583231",
    email: "ada@example.com",
    emailVerified: true,
    name: "Ada Lovelace",
    picture: "https://avatars.githubusercontent.com/u/583231?v=4",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test("falls back to the login as the name", async () => {
  expect((await signIn({ user: { name: null } })).facts.name).toBe("ada");
});

test.each([
  [
    "A43 uses the primary address, verified or not",
    [{ email: "ada@example.com", primary: true, verified: false }, emails[0]],
    { email: "ada@example.com", emailVerified: false },
  ],
  [
    "A43 takes an address without `verified` as unverified",
    [{ email: "ada@example.com", primary: true }],
    { emailVerified: false },
  ],
  ["ignores the public address of /user", [], { email: null, emailVerified: false }],
  [
    "reads no address if the list is an error",
    { message: "Not Found" },
    { email: null, emailVerified: false },
  ],
])("%s", async (_, list, facts) => {
  expect((await signIn({ emails: list })).facts).toMatchObject(facts);
});

test("rejects an error with status 200", async () => {
  const token = { error: "bad_verification_code", error_description: "The code is incorrect or expired." };
  await expect(signIn({ token })).rejects.toMatchObject({ code: "invalid_request" });
});
