import type { Page } from "@playwright/test";
import type { SmtpCatcher } from "../server/testing/smtp.ts";
import { expect, test } from "./fixtures.ts";
import { button, chooseMethod, emailField, enterCode, expectPage, finishSignIn, openLogin } from "./steps.ts";

test.use({ settings: { STILE_EMAIL_LINKS: "true" } });

/** Waits for a mail with a code; returns the link of its text, which is that of its HTML. */
async function linkTo(mailbox: SmtpCatcher, address: string, after: number): Promise<string> {
  await mailbox.codeFor(address, after);
  const { text = "", html } = await mailbox.waitFor(address, after);
  const link = /^https?:\S+$/m.exec(text)?.[0] ?? "";
  expect(html).toContain(`href="${link}"`);
  return link;
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 });

async function isSignedIn(page: Page): Promise<boolean> {
  return (await (await page.request.get("/sessions/validate")).json()).is_valid;
}

test("the link in the mail of a code goes on in the browser that began, by the keyboard alone", {
  tag: "@next",
}, async ({ page, context, mailbox, account }) => {
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const link = await linkTo(mailbox, account.address, asked);

  const opened = await context.newPage();
  await opened.goto(link);
  await expect(heading(opened)).toHaveText("Almost there");
  expect(await isSignedIn(page)).toBe(false);
  await opened.keyboard.press("Tab");
  await expect(button(opened, "Continue")).toBeFocused();
  await opened.keyboard.press("Enter");
  await finishSignIn(opened);
  expect(await isSignedIn(page)).toBe(true);
  // The address of the page holds no token.
  expect(new URL(opened.url()).search).toBe("");

  const again = await context.newPage();
  expect((await again.request.get(link)).status()).toBe(410);
});

test("A166 in another browser the link shows the code, which the first browser takes", {
  tag: "@next",
}, async ({ page, browser, mailbox, account }) => {
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const link = await linkTo(mailbox, account.address, asked);

  const other = await browser.newContext({ locale: "en-GB" });
  try {
    const phone = await other.newPage();
    await phone.goto(link);
    await button(phone, "Show the code").click();
    await expect(heading(phone)).toHaveText("Your code");
    const code = (await phone.locator(".code").textContent()) ?? "";
    expect(code).toBe(await mailbox.codeFor(account.address, asked));
    expect(await other.cookies()).toEqual([]);

    await enterCode(page, code);
    await finishSignIn(page);
    // A reload asks whether to post the form again; the code is used.
    await phone.goto(link);
    await expect(heading(phone)).toHaveText("This link no longer works");
  } finally {
    await other.close();
  }
});

test("a registration goes on by the link without a script", async ({ browser, server, mailbox, address }) => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    baseURL: server.url,
    locale: "en-GB",
  });
  try {
    const page = await context.newPage();
    await page.goto("/?flow=registration");
    const asked = mailbox.messages.length;
    await emailField(page).fill(address);
    await button(page, "Continue").click();
    await expectPage(page, "code");
    await page.goto(await linkTo(mailbox, address, asked));
    await button(page, "Continue").click();
    await expectPage(page, "setPassword");
  } finally {
    await context.close();
  }
});

test("a link that a newer mail has replaced leads back to the page that waits for the code", async ({
  page,
  mailbox,
  account,
  pageErrors,
}) => {
  // The answer to the old link.
  pageErrors.expect(/410/);
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const old = await linkTo(mailbox, account.address, asked);
  const again = mailbox.messages.length;
  await button(page, /new code/i).click();
  const newer = await linkTo(mailbox, account.address, again);

  await page.goto(old);
  await expect(heading(page)).toHaveText("This link no longer works");
  await page.getByRole("link", { name: "Go to sign-in" }).click();
  await expectPage(page, "code");
  await page.goto(newer);
  await button(page, "Continue").click();
  await finishSignIn(page);
});
