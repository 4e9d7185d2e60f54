import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  codeField,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  openLogin,
  passwordField,
  sendNewCode,
} from "./steps.ts";

test("a wrong password is reported beside the field, and may be retried", async ({ page, account }) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, "not the password at all");
  await expect(page.getByText("This password does not match. Please try again.")).toBeVisible();
  await expect(passwordField(page)).toHaveAttribute("aria-invalid", "true");
  await enterPassword(page, account.password);
  await finishSignIn(page);
});

test("A11 after three wrong codes the page takes none, and a new one is accepted", async ({
  page,
  account,
  mailbox,
}) => {
  await openLogin(page);
  let asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const right = await mailbox.codeFor(account.address, asked);
  const wrong = right === "123456" ? "654321" : "123456";
  for (const _try of [1, 2]) {
    await enterCode(page, wrong);
    await expect(page.getByText("This is not the code we sent, or it is too old.")).toBeVisible();
    await expect(codeField(page)).toHaveValue("");
  }
  await enterCode(page, wrong);
  await expect(page.getByText("That was one try too many. Please ask for a new code.")).toBeVisible();
  await expect(codeField(page)).toHaveCount(0);
  await expectPage(page, "code");

  asked = mailbox.messages.length;
  await sendNewCode(page);
  await enterCode(page, await mailbox.codeFor(account.address, asked));
  await finishSignIn(page);
});

test("A15 the code before the newest one is rejected", async ({ page, account, mailbox }) => {
  await openLogin(page);
  let asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const older = await mailbox.codeFor(account.address, asked);
  asked = mailbox.messages.length;
  await sendNewCode(page);
  const newer = await mailbox.codeFor(account.address, asked);
  await enterCode(page, older);
  await expect(page.getByText("This is not the code we sent, or it is too old.")).toBeVisible();
  await enterCode(page, newer);
  await finishSignIn(page);
});

test("every step but the first leads back, and forward again", async ({ page, account, mailbox }) => {
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  const code = await mailbox.codeFor(account.address, asked);
  await button(page, "Back").click();
  await expectPage(page, "methods");
  await button(page, "Enter your password").click();
  await expectPage(page, "password");
  await button(page, "Back").click();
  await expectPage(page, "methods");
  await button(page, "Back").click();
  await expectPage(page, "login");
  await expect(button(page, "Back")).toHaveCount(0);

  // Going back and forth sends no new code: the first one is still valid.
  const before = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  await enterCode(page, code);
  await finishSignIn(page);
  expect(
    mailbox.messages.slice(before).filter((mail) => JSON.stringify(mail.to).includes(account.address)),
  ).toEqual([]);
});

test("A1 an unknown address leads through the same pages as a known one", async ({
  page,
  account,
  address,
  mailbox,
}) => {
  const unknown = `unknown-${address}`;
  const walk = async (who: string) => {
    const seen: string[] = [];
    const note = async () =>
      seen.push(
        (await page.getByRole("main").ariaSnapshot())
          .replaceAll(who, "ADDRESS")
          // Of the flow, which is another one.
          .replace(/\b[BCDFGHJKMNPRTVWX]{4} [BCDFGHJKMNPRTVWX]{4}\b/, "SUPPORT NUMBER"),
      );
    await openLogin(page);
    await enterAddress(page, who);
    await expectPage(page, "methods");
    await note();
    await button(page, "Enter your password").click();
    await expectPage(page, "password");
    await note();
    await enterPassword(page, "not the password at all");
    await expect(page.getByText("This password does not match.")).toBeVisible();
    await note();
    await button(page, "Back").click();
    await button(page, "Get a code by email").click();
    await expectPage(page, "code");
    await note();
    await enterCode(page, "000000");
    await expect(page.getByText("This is not the code we sent")).toBeVisible();
    await note();
    await page.context().clearCookies();
    return seen;
  };
  const asked = mailbox.messages.length;
  const known = await walk(account.address);
  expect(await walk(unknown)).toEqual(known);
  const mail = await mailbox.waitFor(unknown, asked);
  expect(mail.text).not.toMatch(/^\s*\d{6}\s*$/m);
});
