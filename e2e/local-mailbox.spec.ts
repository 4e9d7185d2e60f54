import { expect, test } from "./fixtures.ts";
import { button, enterAddress, enterCode, expectPage, newPasswordField, titles } from "./steps.ts";

// As on a fresh machine without a configured mail server.
test.use({ embedded: true, settings: { SMTP_URL: "", STILE_EMAIL_LINKS: "true" } });

test("without a mail server, codes are read on the page of the local mailbox", async ({
  page,
  context,
  address,
  pageErrors,
}) => {
  // Mails are in frames that run no script, not even Playwright's own.
  pageErrors.expect(/Blocked script execution in 'about:srcdoc'/);
  await page.goto("/?flow=registration");
  await enterAddress(page, address);
  await expectPage(page, "code");

  const mailbox = await context.newPage();
  await expect(async () => {
    await mailbox.goto("/dev/mailbox");
    await expect(mailbox.getByText(address).first()).toBeVisible({ timeout: 500 });
  }).toPass();
  const text = await mailbox.locator("body").ariaSnapshot();
  const code = /\b\d{6}\b/.exec(text)?.[0] ?? "";

  await enterCode(page, code);
  await expectPage(page, "setPassword");
  await newPasswordField(page).fill("seven herons over the lake");
  await button(page, "Save password").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(titles.createPasskey);
});

test("a link is followed from the page of the local mailbox", async ({
  page,
  context,
  address,
  pageErrors,
}) => {
  pageErrors.expect(/Blocked script execution in 'about:srcdoc'/);
  await page.goto("/?flow=registration");
  await enterAddress(page, address);
  await expectPage(page, "code");

  const mailbox = await context.newPage();
  const link = mailbox.frameLocator("iframe").getByRole("link", { name: "Continue without typing the code" });
  await expect(async () => {
    await mailbox.goto(`/dev/mailbox?to=${encodeURIComponent(address)}`);
    await expect(link).toBeVisible({ timeout: 500 });
  }).toPass();
  const opening = context.waitForEvent("page");
  await link.click();
  const opened = await opening;
  await button(opened, "Continue").click();
  await expectPage(opened, "setPassword");
});
