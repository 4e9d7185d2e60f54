import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  openLogin,
} from "./steps.ts";

test("a reload in the middle continues the sign-in", async ({ page, account, mailbox }) => {
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const code = await mailbox.codeFor(account.address, asked);
  await page.reload();
  await expectPage(page, "code");
  await enterCode(page, code);
  await finishSignIn(page);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect((await (await page.request.get("/sessions/validate")).json()).is_valid).toBe(true);
});

test("the second tab of one sign-in is updated, not broken", async ({ page, context, account }) => {
  await openLogin(page);
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  const second = await context.newPage();
  await second.goto("/");
  await expectPage(second, "methods");
  await button(second, "Enter your password").click();
  await expectPage(second, "password");

  // The first tab still shows the choice, which the flow no longer offers.
  await button(page, "Get a code by email").click();
  await expectPage(page, "password");
  await expect(page.getByText("You went on elsewhere, so we brought this page up to date.")).toBeVisible();
  await enterPassword(page, account.password);
  await finishSignIn(page);
});

test("A29 a double click performs once", async ({ page, account, mailbox }) => {
  await openLogin(page);
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  const calls: string[] = [];
  page.on("request", (request) => request.method() === "POST" && calls.push(request.url()));
  const before = mailbox.messages.length;
  await button(page, "Get a code by email").dblclick();
  await expectPage(page, "code");
  await mailbox.waitFor(account.address, before);
  await page.waitForLoadState("networkidle");
  expect(calls).toHaveLength(1);
  const mails = mailbox.messages
    .slice(before)
    .filter((mail) => JSON.stringify(mail.to).includes(account.address));
  expect(mails).toHaveLength(1);
});

test("a cut connection is reported, and the step can be repeated when it is back", async ({
  page,
  context,
  account,
  pageErrors,
}) => {
  pageErrors.expect(/ERR_INTERNET_DISCONNECTED/);
  await openLogin(page);
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  await context.setOffline(true);
  await button(page, "Enter your password").click();
  await expect(page.getByText("We have lost the connection. Trying again…")).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText("We are connected again. Please repeat your last step.")).toBeVisible();
  await button(page, "Enter your password").click();
  await expectPage(page, "password");
});

test("after success the page starts a new flow when it is opened again", async ({ page, account }) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
  // The same session is returned again for a minute; a new tab after that starts a new sign-in.
  await page.context().clearCookies();
  await openLogin(page);
});
