import { setSessionCookie } from "./account.ts";
import { codesOf } from "./codes.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  button,
  confirmIn,
  declinePasskey,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  opener,
  panel,
  row,
  signInByPassword,
} from "./steps.ts";

/** A signed-in user on the account page. */
const test = base.extend<{ opened: undefined }>({
  opened: async ({ page, context, server, account }, use) => {
    await setSessionCookie(context, server.url, account);
    await page.goto("/account");
    await expectPage(page, "account");
    await use(undefined);
  },
});

test.use({
  settings: {
    STILE_ACCOUNT_ALLOW_DELETION: "true",
    STILE_ACCOUNT_METADATA_EDITOR: "true",
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
    STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
    STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false",
    STILE_PASSWORD_OPTIONAL: "true",
  },
});

test("an email address is added, made primary, and the old one removed", async ({
  page,
  account,
  mailbox,
  opened: _,
}) => {
  const other = `other-${account.address}`;
  const add = page.getByRole("button", { name: "Add", exact: true });
  await opener(page, "Add an email address").click();
  await page.getByLabel("Email", { exact: true }).fill("unknown@nowhere");
  await add.click();
  await expect(page.getByText("This does not look like an email address.")).toBeVisible();
  await expect(page.getByLabel("Email", { exact: true })).toHaveValue("unknown@nowhere");

  const asked = mailbox.messages.length;
  await page.getByLabel("Email", { exact: true }).fill(other);
  await add.click();
  await expectPage(page, "code");
  await expect(page.locator(".stile-subject")).toHaveText(other);
  await enterCode(page, await mailbox.codeFor(other, asked));
  await expectPage(page, "account");
  await expect(page.getByText("The email address is added.")).toBeInViewport();
  await row(page, other)
    .getByRole("button", { name: `Make primary ${other}` })
    .click();
  await expect(page.getByText("Your primary email address is changed.")).toBeVisible();
  await expect(row(page, other).getByText("Primary")).toBeVisible();

  const old = page.getByRole("listitem").filter({ hasText: account.address }).filter({ hasNotText: other });
  await old.locator("summary").filter({ hasText: "Remove" }).click();
  await old.getByRole("button", { name: "Yes, remove it" }).click();
  await expect(old).toHaveCount(0);
  const me = await (await page.request.get("/me")).json();
  expect(me.emails).toMatchObject([{ address: other, is_primary: true, is_verified: true }]);
});

test("a username is chosen, changed and removed", async ({ page, opened: _ }) => {
  const name = `ada_${crypto.randomUUID().slice(0, 8)}`;
  await opener(page, "Choose a username").click();
  await page.getByLabel("Username", { exact: true }).fill("no blanks");
  await button(page, "Save").first().click();
  await expect(page.getByText("A username has letters, digits and underscores only.")).toBeVisible();
  await page.getByLabel("Username", { exact: true }).fill(name);
  await row(page, "Username").getByRole("button", { name: "Save" }).click();
  await expect(row(page, "Username").getByText(name)).toBeVisible();
  await row(page, "Username").locator("summary").filter({ hasText: "Change" }).click();
  await page.getByLabel("Username", { exact: true }).fill(`${name}_2`);
  await row(page, "Username").getByRole("button", { name: "Save" }).click();
  await expect(row(page, "Username").getByText(`${name}_2`)).toBeVisible();
  await confirmIn(page, "Username", "Remove", "Yes, remove it");
  await expect(row(page, "Username").getByText("You have none yet.")).toBeVisible();
});

test("a password is changed, and the new one signs in", async ({ page, context, account, opened: _ }) => {
  const password = "nine otters under the bridge";
  await row(page, "Password").locator("summary").filter({ hasText: "Change" }).click();
  await page.getByLabel("New password").fill("password123");
  await button(page, "Save password").click();
  await expect(page.getByText("This password is used too often to be safe.")).toBeVisible();
  await page.getByLabel("New password").fill(password);
  await button(page, "Save password").click();
  await expect(page.getByText("Your password is changed.")).toBeVisible();
  await expect(page.getByLabel("New password")).toBeHidden();
  await context.clearCookies();
  await signInByPassword(page, account);
  await expect(page.getByText("This password does not match.")).toBeVisible();
  await enterPassword(page, password);
  await finishSignIn(page);
});

for (const width of [320, 1000]) {
  test(`opening an action moves no other text, ${width} pixels wide`, async ({ page, opened: _ }) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    // Tall enough that the page does not scroll to what is clicked.
    await page.setViewportSize({ width, height: 8000 });
    const password = row(page, "Password");
    const words = password.locator("summary");
    const places = async () =>
      words.evaluateAll((all) => all.map((one) => [one.textContent, one.getBoundingClientRect().toJSON()]));
    const before = await places();
    expect(before).toHaveLength(2);
    for (const word of await words.all()) {
      await word.click();
      await expect(password.getByRole("button")).not.toHaveCount(0);
      expect(await places()).toEqual(before);
      await word.click();
      await expect(password.locator("details[open]")).toHaveCount(0);
    }
  });
}

test("a password is removed and set again", async ({ page, opened: _ }) => {
  await confirmIn(page, "Password", "Remove", "Yes, remove it");
  await expect(page.getByText("You have none. You sign in another way.")).toBeVisible();
  await opener(page, "Set a password").click();
  await page.getByLabel("New password").fill("nine otters under the bridge");
  await button(page, "Save password").click();
  await expect(page.getByText("Your password is set.")).toBeVisible();
});

test("a passkey is added, renamed and removed", async ({ page, authenticator, opened: _ }) => {
  await expect(page.getByText("You have no passkey yet.")).toBeVisible();
  await authenticator.willConfirm();
  await button(page, "Add a passkey").click();
  const passkeys = panel(page, "Passkeys").getByRole("listitem");
  await expect(passkeys).toHaveCount(1);
  await expect(page.getByText("The passkey is added.")).toBeInViewport();
  expect(await authenticator.count()).toBe(1);
  const summary = passkeys.locator("summary").filter({ hasText: "Rename" });
  await expect(summary).toHaveText(/^Rename (Passkey in Chrome on Linux|\S.+)$/);
  const [, name = ""] = /^Rename (.+)$/.exec((await summary.textContent()) ?? "") ?? [];
  await summary.click();
  await expect(passkeys.getByLabel("Name")).toHaveValue(name);
  await expect(passkeys.getByLabel("Name")).toHaveAttribute("maxlength", "64");
  await passkeys.getByLabel("Name").fill("My telephone");
  await passkeys.getByRole("button", { name: "Save" }).click();
  await expect(row(page, "My telephone")).toBeVisible();
  await expect(passkeys.getByLabel("Name")).toHaveValue("My telephone");
  await confirmIn(page, "My telephone", "Remove", "Yes, remove it");
  await expect(page.getByText("You have no passkey yet.")).toBeVisible();
});

test("a passkey that the browser does not create changes nothing", async ({
  page,
  authenticator,
  opened: _,
}) => {
  await authenticator.willFail();
  await button(page, "Add a passkey").click();
  await expect(page.getByText("The passkey was not used.")).toBeVisible();
  await expectPage(page, "account");
  await expect(page.getByText("You have no passkey yet.")).toBeVisible();
});

test("an app is set up and removed, and recovery codes are created with it and replaced", async ({
  page,
  opened: _,
}) => {
  await row(page, "Authenticator app").getByRole("button", { name: "Set up" }).click();
  await expectPage(page, "setUpApp");
  const codes = codesOf((await page.locator(".stile-secret code").textContent()) ?? "");
  await enterCode(page, await codes.next());
  await expectPage(page, "account");
  const shown = page.locator(".stile-codes-list code");
  await expect(shown).toHaveCount(10);
  const first = await shown.allTextContents();
  await button(page, "I have saved them").click();
  await expect(shown).toHaveCount(0);
  await expect(page.getByText("The authenticator app is set up.")).toBeVisible();
  await expect(row(page, "Authenticator app").getByText("Set up", { exact: true })).toBeVisible();

  await confirmIn(page, "Recovery codes", "Make new codes", "Make new codes");
  await expect(shown).toHaveCount(10);
  expect(await shown.allTextContents()).not.toEqual(first);
  await button(page, "I have saved them").click();

  await confirmIn(page, "Authenticator app", "Remove", "Yes, remove it");
  await expect(row(page, "Authenticator app").getByText("Not set up")).toBeVisible();
});

test("a security key is added, renamed and removed", async ({ page, securityKey, opened: _ }) => {
  await securityKey.willConfirm();
  await button(page, "Add a security key").click();
  const key = page.getByRole("listitem").filter({ hasText: "Added" });
  await expect(key).toBeVisible();
  await expect(page.getByText("The security key is added.")).toBeVisible();
  await button(page, "I have saved them").click();
  await key.locator("summary").filter({ hasText: "Rename" }).click();
  await key.getByLabel("Name").fill("The blue one");
  await key.getByRole("button", { name: "Save" }).click();
  await expect(row(page, "The blue one")).toBeVisible();
  await confirmIn(page, "The blue one", "Remove", "Yes, remove it");
  await expect(row(page, "The blue one")).toHaveCount(0);
});

test("other devices are signed out, one and all", async ({ page, browser, server, account, opened: _ }) => {
  // The account has an identity too.
  const others = await Promise.all([1, 2].map(() => browser.newContext({ baseURL: server.url })));
  for (const other of others) await setSessionCookie(other, server.url, account);
  const live = async () => {
    const answers = await Promise.all(others.map((other) => other.request.get("/sessions/validate")));
    const checked = await Promise.all(answers.map((answer) => answer.json()));
    return checked.filter(({ is_valid }) => is_valid).length;
  };
  await page.reload();
  const rows = panel(page, "Where you are signed in").getByRole("listitem");
  await expect(rows).toHaveCount(4);
  await expect(rows.filter({ hasText: "This device" })).toHaveCount(1);
  const other = rows.filter({ hasNotText: "This device" }).first();
  await other.locator("summary").click();
  await other.getByRole("button", { name: "Sign out" }).click();
  await expect(rows).toHaveCount(3);
  const alive = await live();
  expect([1, 2]).toContain(alive);
  await opener(page, "Sign out everywhere else").click();
  await button(page, "Yes, sign out everywhere else").click();
  await expect(rows).toHaveCount(1);
  expect(await live()).toBe(0);
  await expect(page.getByText("Every other device is signed out.")).toBeVisible();
  for (const context of others) await context.close();
});

test("metadata is edited", async ({ page, opened: _ }) => {
  await opener(page, "Edit your data").click();
  const field = page.getByLabel("Data (JSON)");
  await field.fill("{ colour: green }");
  await panel(page, "More").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("This is not valid JSON.")).toBeVisible();
  await field.fill('{ "colour": "green" }');
  await panel(page, "More").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your data is saved.")).toBeVisible();
  const me = await (await page.request.get("/me")).json();
  expect(me.metadata).toEqual({ unsafe_metadata: { colour: "green" } });
});

test("an account is deleted by its owner, after a confirmation", async ({ page, account, opened: _ }) => {
  await opener(page, "Delete account").click();
  await expect(page.getByText("cannot be brought back.")).toBeVisible();
  await button(page, "Yes, delete my account").click();
  await expectPage(page, "deleted");
  expect((await (await page.request.get("/sessions/validate")).json()).is_valid).toBe(false);
  await page.getByRole("link", { name: "Go to sign-in" }).click();
  await expectPage(page, "login");
  await signInByPassword(page, account);
  await expect(page.getByText("This password does not match.")).toBeVisible();
});

test("signing out leads to the sign-in", async ({ page, opened: _ }) => {
  await button(page, "Sign out").first().click();
  await expectPage(page, "login");
  expect((await (await page.request.get("/sessions/validate")).json()).is_valid).toBe(false);
});

test("the account page without a session leads to the sign-in, and back", async ({ page, account }) => {
  await page.goto("/account");
  await expect(page.getByRole("heading", { name: "Please sign in" })).toBeVisible();
  await page.getByRole("link", { name: "Sign in" }).click();
  await signInHere(page, account);
  await declinePasskey(page);
  await expectPage(page, "account");
});

test("a session that ended elsewhere is reported on the next action", async ({
  page,
  context,
  opened: _,
}) => {
  await context.clearCookies({ name: "service" });
  await button(page, "Add a passkey").click();
  await expect(page.getByRole("link", { name: "Sign in" })).toBeVisible();
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("every action is shown, and a destructive one has to be confirmed", async ({
    page,
    context,
    server,
    account,
    mailbox,
  }) => {
    const other = `other-${account.address}`;
    await setSessionCookie(context, server.url, account);
    await page.goto("/account");
    await expectPage(page, "account");
    await opener(page, "Add an email address").click();
    const asked = mailbox.messages.length;
    await page.getByLabel("Email", { exact: true }).fill(other);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expectPage(page, "code");
    await page.getByLabel("Code", { exact: true }).fill(await mailbox.codeFor(other, asked));
    await button(page, "Confirm").click();
    await expectPage(page, "account");
    await confirmIn(page, other, "Remove", "Yes, remove it");
    await expect(row(page, other)).toHaveCount(0);
    await button(page, "Sign out").first().click();
    await expect(page).toHaveURL(/\/$/);
    expect((await (await page.request.get("/sessions/validate")).json()).is_valid).toBe(false);
  });
});

async function signInHere(
  page: import("@playwright/test").Page,
  { address, password }: { address: string; password: string },
): Promise<void> {
  await expectPage(page, "login");
  await page.getByLabel("Email", { exact: true }).fill(address);
  await button(page, "Continue").click();
  await expectPage(page, "methods");
  await button(page, "Enter your password").click();
  await enterPassword(page, password);
}
