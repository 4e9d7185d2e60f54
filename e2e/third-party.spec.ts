import type { Page } from "@playwright/test";
import { backdateSignIns, setSessionCookie } from "./account.ts";
import { expect } from "./fixtures.ts";
import { signInAtAcme, test } from "./provider.ts";
import { button, confirmIn, emailField, expectPage, openLogin, row } from "./steps.ts";

async function whoIs(page: Page): Promise<string> {
  const me = await (await page.request.get("/me")).json();
  return me.emails[0].address;
}

test("a user registers and signs in with another account, by clicking", async ({
  page,
  context,
  acme,
  address,
}) => {
  acme.person(address, { email: address, email_verified: true, name: "Ada" });
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, address);
  await expectPage(page, "success");
  expect(await whoIs(page)).toBe(address);
  expect(new URL(page.url()).search).toBe("");
  await context.clearCookies({ name: "service" });
  await context.clearCookies({ name: /^stile-login-/ });

  // The provider remembers the user: one click is enough.
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await expectPage(page, "success");
  expect(await whoIs(page)).toBe(address);
});

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("a user registers, and signs in again with the provider, which comes first then", async ({
    page,
    context,
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
    expect(await whoIs(page)).toBe(address);

    await context.clearCookies({ name: "service" });
    await context.clearCookies({ name: /^stile-login-/ });
    await page.goto("/");
    await emailField(page).fill(address);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await expectPage(page, "methods");
    const ways = page.locator(".stile-content form:not(.stile-form-back, .stile-identity form) button");
    await expect(ways.first()).toHaveAttribute("value", "custom_acme");
    await ways.first().click();
    await page.getByRole("link", { name: /^Continue at / }).click();
    await button(page, "Continue").click();
    await expectPage(page, "success");
    expect(await whoIs(page)).toBe(address);
  });
});

test("a registration may begin with another account too", async ({ page, acme, address }) => {
  acme.person(address, { email: address, email_verified: true });
  await page.goto("/?flow=registration");
  await expectPage(page, "registration");
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, address);
  await expectPage(page, "success");
  expect(await whoIs(page)).toBe(address);
});

test("cancelling at the provider returns to the sign-in with a notice", async ({ page }) => {
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await button(page, "Turn back").click();
  await expectPage(page, "login");
  await expect(page.locator(".stile-alert")).toHaveText(
    "You turned back, or the other site did not let you in. You can try again.",
  );
  expect(new URL(page.url()).search).toBe("");
});

test("going back in the browser does not redirect to the provider again", async ({ page }) => {
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await expect(page.getByRole("heading", { name: "Acme" })).toBeVisible();
  await page.goBack();
  await expectPage(page, "login");
  await page.waitForLoadState("networkidle");
  expect(new URL(page.url()).pathname).toBe("/");
});

test("an address that has an account is not taken over, unless both sides have verified it", async ({
  page,
  acme,
  account,
}) => {
  acme.person(account.address, { email: account.address, email_verified: false });
  await openLogin(page);
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, account.address);
  await expect(page.locator(".stile-alert")).toContainText(
    "There is already an account with this email address.",
  );
  await button(page, "Sign in with this address").click();
  await expectPage(page, "methods");
  await expect(page.locator(".stile-identity strong")).toHaveText(account.address);
});

test("another account is connected and disconnected", async ({ page, context, server, acme, account }) => {
  acme.person(`acme-${account.address}`, { email: `acme-${account.address}`, email_verified: true });
  await setSessionCookie(context, server.url, account);
  await page.goto("/account");
  await expectPage(page, "account");
  await button(page, "Connect Acme").click();
  await signInAtAcme(page, `acme-${account.address}`);
  await expectPage(page, "account");
  await expect(row(page, "Acme")).toBeVisible();
  await expect(button(page, "Connect Acme")).toHaveCount(0);
  await confirmIn(page, "Acme", "Disconnect", "Yes, disconnect");
  await expect(button(page, "Connect Acme")).toBeVisible();
  await expect(page.getByText("The account is disconnected.")).toBeVisible();
});

test("a change of the account after a while is made after re-authentication with the connected account", async ({
  page,
  context,
  server,
  database,
  acme,
  account,
}) => {
  const name = `acme-${account.address}`;
  acme.person(name, { email: name, email_verified: true });
  await setSessionCookie(context, server.url, account);
  await page.goto("/account");
  await button(page, "Connect Acme").click();
  await signInAtAcme(page, name);
  await expect(row(page, "Acme")).toBeVisible();
  await backdateSignIns(database);
  await row(page, "Password").locator("summary").filter({ hasText: "Change" }).click();
  await page.getByLabel("New password").fill("nine otters under the bridge");
  await button(page, "Save password").click();
  await expectPage(page, "reauthentication");
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, name);
  await expectPage(page, "account");
  await expect(page.getByText("Your password is changed.")).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the redirect to the provider is a link, and the return is a button", async ({
    page,
    acme,
    address,
  }) => {
    acme.person(address, { email: address, email_verified: true });
    await page.goto("/");
    await button(page, "Continue with Acme").click();
    await page.getByRole("link", { name: /^Continue at 127\.0\.0\.1/ }).click();
    await signInAtAcme(page, address);
    await button(page, "Continue").click();
    await expectPage(page, "success");
    expect(await whoIs(page)).toBe(address);
  });
});
