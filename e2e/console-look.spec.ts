import type { FrameLocator, Page } from "@playwright/test";
import { button, consoleSettings, expectAccessible, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";
import { stile } from "./stile.ts";

/** What pages look like in the console: the theme and the words with their preview, the messages, and recorded states. */

test.use({ settings: consoleSettings, contextOptions: { reducedMotion: "reduce" } });

const preview = (page: Page, state: string): FrameLocator =>
  page.frameLocator(`iframe[title="Preview of “${state}”"]`);

const expectGround = (frame: FrameLocator, colour: string) =>
  expect(frame.locator("body")).toHaveCSS("background-color", colour);

test("an operator changes the look with a preview, reads the messages, and sees what a user saw @next", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  // The first call is made before the sign-in, and half of a colour is none.
  pageErrors.expect(/40[01] \((Unauthorized|Bad Request)\)/);
  pageErrors.expect(/favicon\.ico/);
  const home = await openConsole(page, server, account, "operator");

  await test.step("the look of the default tenant is tried, and copied as its configuration", async () => {
    await page.goto(`${home}/look`);
    await expect(preview(page, "Login init").getByRole("heading", { name: "Sign in" })).toBeVisible();
    // The preview takes no focus, to which the browser would scroll.
    expect(
      await preview(page, "Login init")
        .locator("body")
        .evaluate(() => document.hasFocus()),
    ).toBe(false);
    await expect(preview(page, "Login init").locator("[autofocus]")).toHaveCount(0);
    await expectAccessible(page);
    await page.getByLabel("Ground", { exact: true }).first().fill("#ffeedd");
    await expectGround(preview(page, "Login init"), "rgb(255, 238, 221)");
    await expect(page.getByText('"ground": "#ffeedd"')).toBeVisible();
    await expect(button(page, "Review and save")).toHaveCount(0);
  });

  await stile(server, ["tenants", "create", "--name", "Acme"]);
  await page.goto(`${home}/tenants`);
  await page.getByRole("row", { name: /Acme/ }).getByRole("link", { name: "Acme" }).click();
  await page.waitForURL((url) => !url.href.startsWith(home));
  const acme = page.url().replace(/(\/console\/[0-9a-f-]{36}).*/, "$1");

  await test.step("what is typed is in the preview, and said to be wrong where it is", async () => {
    await page.goto(`${acme}/look`);
    const frame = preview(page, "Login init");
    await expect(frame.getByText("Acme", { exact: true })).toBeVisible();
    const accent = page.getByLabel("Accent", { exact: true }).first();
    await accent.fill("#ffe0");
    await expect(page.getByText("must be a colour like #1f5b43").first()).toBeVisible();
    await accent.fill("#ffe066");
    await expect(page.getByText(/theme\.light\.accent #ffe066 has a contrast of 1\./)).toBeVisible();
    await page.getByText("Dark", { exact: true }).first().click();
    await expectGround(frame, "rgb(15, 19, 17)");
    await page.getByText("Words", { exact: true }).click();
    await page.getByLabel("states.login_init.title", { exact: true }).fill("Welcome <b>back</b>");
    await expect(frame.getByRole("heading", { name: "Welcome <b>back</b>" })).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("the change is tried, saved, and in force", async () => {
    await button(page, "Review and save").click();
    await expect(page.getByText(/None is affected/)).toBeVisible();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("The settings are saved.")).toBeVisible();
    await page.goto(`${server.url}/t/${acme.split("/").at(-1)}/login`);
    await expect(page.getByRole("heading", { name: "Welcome <b>back</b>" })).toBeVisible();
  });

  await test.step("all states are drawn as they come into view, and one of them is opened", async () => {
    await page.goto(`${acme}/look?view=all&states=otp&language=ar-XB`);
    const first = page.locator("iframe").first();
    await expect(first.contentFrame().locator("main[dir=rtl]")).toBeVisible();
    await expect(page.locator("iframe").nth(3)).toBeVisible();
    // Each frame is a page to axe.
    await page.getByLabel("Search states").fill("login_otp_opened");
    await expect(page.locator("iframe")).toHaveCount(1);
    await expectAccessible(page);
    await page
      .getByRole("button", { name: /^Show “Login otp/ })
      .first()
      .press("Enter");
    await expect(page.getByRole("combobox", { name: "State", exact: true })).toHaveValue("Login otp opened");
  });

  await test.step("every message is read in a language", async () => {
    await page.goto(`${acme}/messages`);
    await page.getByRole("link", { name: "Previews" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Previews of mails and SMS" })).toBeVisible();
    await page.goto(`${acme}/messages/previews?language=de&message=mail.password_update`);
    const mail = page.locator("iframe.mail-frame");
    await expect(mail.contentFrame().locator("html[lang=de] h1")).toBeVisible();
    expect(await mail.getAttribute("sandbox")).toBe("");
    // It is drawn in the chosen scheme, whatever that of the system is.
    const ground = mail.contentFrame().locator(".page").first();
    const dark = "rgb(15, 18, 22)";
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.getByText("Dark", { exact: true }).click();
      await expect(ground).toHaveCSS("background-color", dark);
      await page.getByText("Light", { exact: true }).click();
      await expect(ground).not.toHaveCSS("background-color", dark);
    }
    await page.emulateMedia({ colorScheme: null });
    await button(page, "Sms login SMS").click();
    await expect(page.getByText(/048213/).last()).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("a recorded state is drawn, and the arrows change the drawing", async () => {
    const rows = page.locator("tbody tr[tabindex]");
    // Steps are written a moment after they were made.
    await expect(async () => {
      await page.goto(`${home}/sign-ins`);
      await expect(rows.first()).toBeVisible({ timeout: 5_000 });
    }).toPass();
    await rows.getByRole("link").first().click();
    await page.waitForURL(/\/sign-ins\/[0-9a-f-]{36}/);
    await page.locator('[aria-current="step"]').focus();
    await page.keyboard.press("Home");
    const seen = page.locator('iframe[title$="as the user saw it"]');
    await expect(seen.contentFrame().locator("main.stile-page")).toBeVisible();
    const before = await seen.getAttribute("title");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect(page).toHaveURL(/step=3|(?<!step=\d)$/);
    await expect(seen).not.toHaveAttribute("title", before ?? "");
    await expectAccessible(page);
  });
});
