import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { signInAt } from "../../testing/provider-answers.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_FACEBOOK_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_FACEBOOK_CLIENT_ID: "1234567890",
  STILE_THIRD_PARTY_PROVIDERS_FACEBOOK_SECRET: "app secret",
});

const me = {
  id: "10158712345678901",
  name: "Ada Lovelace",
  email: "ada\u0040example.com",
  first_name: "Ada",
  last_name: "Lovelace",
  picture: {
    data: { height: 50, is_silhouette: false, url: "https://platform-lookaside.fbsbx.com/ada", width: 50 },
  },
};

const signIn = (more: Record<string, unknown> = {}) =>
  signInAt(runtime, "facebook", {
    answers: {
      "https://graph.facebook.com/v21.0/oauth/access_token": {
        access_token: "EAAG",
        token_type: "bearer",
        expires_in: 5_183_944,
      },
      "https://graph.facebook.com/v21.0/me": { ...me, ...more },
    },
  });

test("reads the facts from /me, and proves its knowledge of the app secret", async () => {
  const { url, facts, asked } = await signIn();
  expect(url.origin + url.pathname).toBe("https://www.facebook.com/v21.0/dialog/oauth");
  expect(url.searchParams.get("scope")).toBe("email public_profile");
  const { searchParams } = new URL(asked[1]?.address ?? "");
  expect(searchParams.get("appsecret_proof")).toBe(
    createHmac("sha256", "app secret").update("EAAG").digest("hex"),
  );
  expect(searchParams.get("fields")).toBe("id,name,email,first_name,last_name,picture");
  expect(facts).toEqual({
    provider: "facebook",
    subject: "10158712345678901",
    email: "ada@example.com",
    emailVerified: false,
    name: "Ada Lovelace",
    givenName: "Ada",
    familyName: "Lovelace",
    picture: "https://platform-lookaside.fbsbx.com/ada",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test("A43 never takes an address as verified", async () => {
  const { facts } = await signIn({ verified: true, email_verified: true });
  expect(facts.emailVerified).toBe(false);
});

test("leaves out an absent address and a placeholder picture", async () => {
  const picture = { data: { is_silhouette: true, url: "https://platform-lookaside.fbsbx.com/silhouette" } };
  const { facts } = await signIn({ email: undefined, picture });
  expect(facts.email).toBeNull();
  expect(facts).not.toHaveProperty("picture");
});
