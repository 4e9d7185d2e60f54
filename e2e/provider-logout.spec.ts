import type { Page } from "@playwright/test";
import { type SamlProviderServer, startSamlProvider } from "../server/testing/saml-provider-server.ts";
import { expect } from "./fixtures.ts";
import { test as base, signInAtAcme } from "./provider.ts";
import { button, emailField, expectPage, openLogin } from "./steps.ts";

/** Signing out at Acme, and at a SAML provider, too, as a person on a shared machine needs it. */
const test = base.extend<object, { near: SamlProviderServer }>({
  near: [
    async ({ reverseProxy }, use) => {
      const near = await startSamlProvider();
      near.signsOutOf = { url: reverseProxy.url, domain: "near.example" };
      await use(near);
      await near.close();
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ reverseProxy, acme, near }, use) => {
      const saml = {
        name: "Near",
        domains: ["near.example"],
        metadata_url: near.metadataUrl,
        skip_email_verification: true,
        single_logout: true,
        attribute_map: { email: "mail" },
      };
      const { acme: known } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
      const providers = { acme: { ...known, rp_initiated_logout: true } };
      await use({
        BASE_URL: reverseProxy.url,
        STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify(providers),
        STILE_SAML_ENABLED: "true",
        STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([saml]),
      });
    },
    { scope: "worker" },
  ],
});

test("who signs out is signed out at the provider, which asks the next person who they are @next", async ({
  page,
  acme,
  address,
}) => {
  acme.person(address, { email: address, email_verified: true });
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, address);
  await expectPage(page, "success");
  await page.goto("/account");
  await button(page, "Sign out").first().click();
  await expectPage(page, "login");
  expect((await page.request.get("/me")).status()).toBe(401);

  await button(page, "Continue with Acme").click();
  await expect(page.getByLabel("Account")).toBeVisible();
});

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("who signs out is led to the provider, and back to the sign-in @next", async ({
    page,
    acme,
    address,
  }) => {
    acme.person(address, { email: address, email_verified: true });
    await page.goto("/");
    await button(page, "Continue with Acme").click();
    await page.getByRole("link", { name: /^Continue at / }).click();
    await signInAtAcme(page, address);
    await button(page, "Continue").click();
    await expectPage(page, "success");
    await page.goto("/account");
    await button(page, "Sign out").first().click();
    // Without a script, the page of this provider asks.
    await button(page, "Sign out at Acme").click();
    await expectPage(page, "login");
    expect((await page.request.get("/me")).status()).toBe(401);

    await button(page, "Continue with Acme").click();
    await page.getByRole("link", { name: /^Continue at / }).click();
    await expect(page.getByLabel("Account")).toBeVisible();
  });
});

/** Signs a new user in at the SAML provider, which asks. */
async function signInAtNear(page: Page, near: SamlProviderServer): Promise<string> {
  const nameId = crypto.randomUUID();
  const email = `${nameId}@near.example`;
  near.person = { nameId, attributes: { mail: email } };
  await openLogin(page);
  await emailField(page).fill(email);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await button(page, "Sign in at Provider").click();
  await expectPage(page, "success");
  return email;
}

test("who signs out is signed out at a SAML provider, which asks the next person @next", async ({
  page,
  near,
}) => {
  const email = await signInAtNear(page, near);
  await page.goto("/account");
  await button(page, "Sign out").first().click();
  await expectPage(page, "login");
  expect((await page.request.get("/me")).status()).toBe(401);

  await page.goto("/");
  await emailField(page).fill(email);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await expect(button(page, "Sign in at Provider")).toBeVisible();
});

test("who signs out at a SAML provider is signed out here @next", async ({ page, near }) => {
  await signInAtNear(page, near);
  expect((await page.request.get("/me")).status()).toBe(200);
  await page.goto(new URL("/leave", near.metadataUrl).href);
  await expect(page.getByRole("heading", { name: "You are signed out everywhere" })).toBeVisible();
  expect((await page.request.get("/me")).status()).toBe(401);
});
