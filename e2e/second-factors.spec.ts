import type { Page } from "@playwright/test";
import type { SmtpCatcher } from "../server/testing/smtp.ts";
import { signUp } from "./account.ts";
import { type Codes, codesOf } from "./codes.ts";
import { expect, test } from "./fixtures.ts";
import {
  button,
  codeField,
  declinePasskey,
  enterAddress,
  enterCode,
  expectPage,
  newPasswordField,
  opener,
  signInByPassword,
} from "./steps.ts";

const password = "seven herons over the lake";

/** Registers by clicking, up to the choice of a second factor. */
async function register(page: Page, mailbox: SmtpCatcher, address: string): Promise<void> {
  await page.goto("/?flow=registration");
  const asked = mailbox.messages.length;
  await enterAddress(page, address);
  await enterCode(page, await mailbox.codeFor(address, asked));
  await expectPage(page, "setPassword");
  await newPasswordField(page).fill(password);
  await button(page, "Save password").click();
  await declinePasskey(page);
  await expectPage(page, "secondStep");
}

/** Reads the codes off the page, and dismisses them. */
async function saveRecoveryCodes(page: Page): Promise<string[]> {
  await expect(page.getByRole("heading", { name: "Your recovery codes" })).toBeVisible();
  const codes = await page.locator(".stile-codes-list code").allTextContents();
  expect(codes).toHaveLength(10);
  await button(page, "I have saved them").click();
  await expect(page.getByRole("heading", { name: "Your recovery codes" })).toHaveCount(0);
  return codes;
}

async function setUpApp(page: Page): Promise<Codes> {
  await button(page, /An authenticator app/).click();
  await expectPage(page, "setUpApp");
  await expect(page.getByRole("img")).toHaveAttribute("src", /^data:image\/png;base64,/);
  const codes = codesOf((await page.locator(".stile-secret code").textContent()) ?? "");
  await enterCode(page, codes.app.wrongCode(Date.now()));
  await expect(page.getByText("This code does not match.")).toBeVisible();
  await enterCode(page, await codes.next());
  return codes;
}

async function isSignedIn(page: Page): Promise<boolean> {
  return (await (await page.request.get("/sessions/validate")).json()).is_valid;
}

test("an authenticator app is set up by clicking, required at the next sign-in, and skipped on a trusted device", async ({
  page,
  context,
  mailbox,
  address,
  authenticator,
}) => {
  await authenticator.willWait();
  await register(page, mailbox, address);
  const codes = await setUpApp(page);
  await expectPage(page, "success");
  await saveRecoveryCodes(page);
  await context.clearCookies();

  await signInByPassword(page, { address, password });
  await expectPage(page, "appCode");
  expect(await isSignedIn(page)).toBe(false);
  await enterCode(page, codes.app.wrongCode(Date.now()));
  await expect(page.getByText("This code does not match. Please look at your app once more.")).toBeVisible();
  await expect(codeField(page)).toHaveValue("");
  await enterCode(page, await codes.next());
  await expectPage(page, "trust");
  expect(await isSignedIn(page)).toBe(false);
  await button(page, "Yes, trust this device").click();
  await expectPage(page, "success");
  expect(await isSignedIn(page)).toBe(true);

  const kept = (await context.cookies()).filter(({ name }) => name === "service-device-token");
  await context.clearCookies();
  await context.addCookies(kept);
  await signInByPassword(page, { address, password });
  await expectPage(page, "success");
});

test("a recovery code replaces a lost app, once", async ({ page, context, server, mailbox, address }) => {
  const account = await signUp(server.url, mailbox, address, { app: true });
  const [code = ""] = account.recoveryCodes;
  const use = async () => {
    await signInByPassword(page, account);
    await expectPage(page, "appCode");
    await opener(page, "Use a recovery code").click();
    await page.getByLabel("Recovery code").fill(code);
    await button(page, "Use this code").click();
  };
  await use();
  await declinePasskey(page);
  await expectPage(page, "trust");
  await button(page, "Not now").click();
  await expectPage(page, "success");
  await context.clearCookies();

  await use();
  await expect(
    page.getByText("This is not one of your recovery codes, or it was used already."),
  ).toBeVisible();
  await expect(page.getByLabel("Recovery code")).toBeVisible();
  await expectPage(page, "appCode");
});

test("a security key is set up by clicking, and required at the next sign-in", async ({
  page,
  context,
  mailbox,
  address,
  securityKey,
}) => {
  await securityKey.willWait();
  await register(page, mailbox, address);
  await button(page, /A security key/).click();
  await expectPage(page, "setUpKey");
  await securityKey.willConfirm();
  await button(page, "Set up a security key").click();
  await expectPage(page, "success");
  await saveRecoveryCodes(page);
  expect(await securityKey.count()).toBe(1);
  await context.clearCookies();

  await signInByPassword(page, { address, password });
  await expectPage(page, "securityKey");
  expect(await isSignedIn(page)).toBe(false);
  await button(page, "Use your security key").click();
  await expectPage(page, "trust");
  await button(page, "Not now").click();
  await expectPage(page, "success");
});

test("a user with an app and a key may change between them", async ({
  page,
  server,
  mailbox,
  address,
  securityKey,
}) => {
  const account = await signUp(server.url, mailbox, address, { app: true });
  await securityKey.willWait();
  await signInByPassword(page, account);
  await expectPage(page, "appCode");
  await enterCode(page, (await account.codes?.next()) ?? "");
  await declinePasskey(page);
  await expectPage(page, "trust");
  await button(page, "Not now").click();
  await page.getByRole("link", { name: "Go to your account" }).click();
  await expectPage(page, "account");
  await securityKey.willConfirm();
  await button(page, "Add a security key").click();
  await expect(page.getByRole("listitem").filter({ hasText: "Security key" })).toBeVisible();
  await page.context().clearCookies();

  await signInByPassword(page, account);
  await expectPage(page, "securityKey");
  await button(page, "Use a code of your app instead").click();
  await expectPage(page, "appCode");
  await button(page, "Use a security key instead").click();
  await expectPage(page, "securityKey");
});

test("an optional second factor is skipped, and the way back leads to the choice", async ({
  page,
  mailbox,
  address,
  authenticator,
}) => {
  await authenticator.willWait();
  await register(page, mailbox, address);
  await button(page, /A security key/).click();
  await expectPage(page, "setUpKey");
  await button(page, "Back").click();
  await expectPage(page, "secondStep");
  await button(page, "Not now").click();
  await expectPage(page, "success");
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("an app is required, and a recovery code replaces it", async ({ page, server, mailbox, address }) => {
    const account = await signUp(server.url, mailbox, address, { app: true });
    await page.goto("/");
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await page.getByLabel("Password", { exact: true }).fill(account.password);
    await button(page, "Sign in").click();
    await expectPage(page, "appCode");
    await opener(page, "Use a recovery code").click();
    await page.getByLabel("Recovery code").fill(account.recoveryCodes[0] ?? "");
    await button(page, "Use this code").click();
    await expectPage(page, "trust");
    await button(page, "Not now").click();
    await expectPage(page, "success");
  });
});
