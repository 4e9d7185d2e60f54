import { createRequire } from "node:module";
import type { Locator, Page } from "@playwright/test";
import type { VirtualAuthenticator } from "../server/testing/kit/virtual-authenticator.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { backdateSignIns, setSessionCookie, signUp } from "./account.ts";
import { openClientPages, settingsFor } from "./client-pages.ts";
import { expect } from "./fixtures.ts";
import { test as base, signInAtAcme } from "./provider.ts";

const require = createRequire(import.meta.url);
const library = require.resolve("@teamhanko/hanko-elements");

/** Draws the component that the path names. The title becomes the newest event of the session. */
const html = `<!doctype html><title>App</title><link rel=icon href=data:,><body><script type=module>
  import { register } from "/library.js";
  const { pathname, searchParams } = new URL(location);
  const element = document.createElement(pathname.slice(1));
  document.body.append(element);
  for (const event of ["hanko-session-created", "hanko-user-deleted"])
    document.addEventListener(event, () => { document.title = event; });
  let drawn = 0;
  document.addEventListener("hanko-after-state-change", () => { document.body.dataset.drawn = drawn += 1; });
  await register(searchParams.get("api"));
  // The components show the key of a text that they lack, which fails the test as an error of the page.
  const keyOrCode = /\\b(errors|flowErrors|headlines|labels|texts)\\.\\w|[a-z]_[a-z]/;
  const check = () => {
    const shown = element.shadowRoot.querySelector("[part=container]")?.innerText ?? "";
    if (keyOrCode.test(shown)) console.error("the component shows a code: " + shown);
  };
  new MutationObserver(check).observe(element.shadowRoot, { childList: true, characterData: true, subtree: true });
</script>`;

type Component = "hanko-auth" | "hanko-login" | "hanko-registration" | "hanko-profile";

// The published components, unchanged, in pages of an application on another origin.
const test = base.extend<{ open(component: Component): Promise<void> }, { origin: string }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const pages = await openClientPages({ library, html });
      await use(pages.origin);
      await pages.close();
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ settings, origin }, use) =>
      use({
        ...settings,
        ...settingsFor(origin),
        STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: `${origin}/**?**`,
        STILE_ACCOUNT_ALLOW_DELETION: "true",
        STILE_USERNAME_ENABLED: "true",
        STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false",
        STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
      }),
    { scope: "worker" },
  ],
  open: async ({ page, pageErrors, server, origin }, use) => {
    // The browser reports each answer that is an error.
    pageErrors.expect(/the server responded with a status of 4\d\d/);
    await use(async (component) => {
      await page.goto(`${origin}/${component}?api=${encodeURIComponent(server.url)}`);
      await expectDrawn(page);
    });
  },
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const headings = (page: Page) => page.getByRole("heading", { level: 1 });
const expectHeading = (page: Page, heading: string) => expect(headings(page).first()).toHaveText(heading);
/** The components draw the first state of a page again after half a second, and discard what was done until then. */
const expectDrawn = (page: Page) => expect(page.locator("body")).toHaveAttribute("data-drawn", "2");
/** What the component says about the last step, at the top of the state. */
const expectMessage = (page: Page, sentence: string | RegExp) =>
  expect(page.locator("[part=error-text]:visible")).toHaveText(sentence);
const expectSession = (page: Page) => expect(page).toHaveTitle("hanko-session-created");

const wrongCode = "The passcode provided was not correct.";
const wrongValue = "The entered value is invalid.";
const deletedPasskey = "This passkey cannot be used anymore.";
const technicalError = "A technical error has occurred. Please try again later.";

async function enterEmail(page: Page, address: string): Promise<void> {
  await page.getByPlaceholder("Email", { exact: true }).fill(address);
  await button(page, "Continue").click();
}

/**
 * Typed digit by digit; the last one submits it. After a wrong code the component erases the fields some time after it
 * has said so, and what was typed meanwhile.
 */
async function enterCode(page: Page, code: string): Promise<void> {
  const digits = page.getByLabel(/^passcode-digit/);
  await expect(async () => {
    await digits.first().click();
    for (const [index, digit] of [...code].entries()) {
      if (index > 0) await expect(digits.nth(index)).toBeFocused({ timeout: 1_000 });
      await expect(digits.last()).toHaveValue("");
      await page.keyboard.press(digit);
    }
  }).toPass();
}

async function enterPassword(page: Page, password: string): Promise<void> {
  await page.getByPlaceholder("Password").fill(password);
  await button(page, "Sign in").click();
}

/** Opens a section of the profile; returns its content. */
async function section(page: Page, name: string | RegExp): Promise<Locator> {
  const item = page
    .locator("[class*=accordionItem]")
    .filter({ has: page.locator("label", { hasText: name }) });
  await item.locator("label").first().click();
  return item.locator("[class*=accordionContent]");
}

/** Lets the authenticator answer one request for an assertion; returns the number of answers so far. */
async function confirmOnce(page: Page, authenticator: VirtualAuthenticator): Promise<() => number> {
  let count = 0;
  await page.route(/action=webauthn_verify_assertion_response/, async (route) => {
    count += 1;
    // Otherwise it would answer the autofill of the next state as well, which waits for a person.
    await authenticator.willWait();
    await route.continue();
  });
  await authenticator.willConfirm();
  return () => count;
}

const sql = (database: string | null, statement: string) =>
  withClient(database ?? "", (client) => client.query(statement));

test("a registration with wrong codes, a common password and a cancelled passkey", async ({
  page,
  open,
  mailbox,
  address,
  authenticator,
}) => {
  await open("hanko-registration");
  await page.getByPlaceholder("Username").fill("not a name");
  await enterEmail(page, address);
  await expectMessage(page, "The username must contain only letters, numbers, and underscores.");
  await page.getByPlaceholder("Username").fill(`ada_${crypto.randomUUID().slice(0, 8)}`);
  await button(page, "Continue").click();
  await expectHeading(page, "Enter passcode");
  const first = await mailbox.waitFor(address);
  for (const sentence of [wrongCode, wrongCode, /too many times\. Please request a new code/]) {
    const wrong = first.text?.includes("000000") ? "111111" : "000000";
    await enterCode(page, wrong);
    await expectMessage(page, sentence);
  }
  await expect(button(page, "Continue")).toBeDisabled();
  const asked = mailbox.messages.length;
  await button(page, "Send new code").click();
  await enterCode(page, await mailbox.codeFor(address, asked));
  await expectHeading(page, "Set new password");
  await page.getByPlaceholder("New password").fill("password1");
  await button(page, "Continue").click();
  await expectMessage(page, wrongValue);
  await page.getByPlaceholder("New password").fill("nine otters under the bridge");
  await button(page, "Continue").click();
  await authenticator.willFail();
  await button(page, "Create a passkey").click();
  await expectMessage(page, /timed out, was canceled/);
  await button(page, "Skip").click();
  await expectHeading(page, "Set up MFA");
  await button(page, "Skip").click();
  await expectSession(page);
});

test("a sign-in with a wrong password, a deleted passkey and a wrong code", async ({
  page,
  open,
  origin,
  server,
  database,
  mailbox,
  address,
  authenticator,
}) => {
  const account = await signUp(server.url, mailbox, address, { passkey: true, origin });
  await authenticator.take(account.authenticator);
  await sql(database, "delete from webauthn_credentials");

  await open("hanko-login");
  const answers = await confirmOnce(page, authenticator);
  await button(page, "Sign in with a passkey").click();
  await expectMessage(page, deletedPasskey);
  await enterEmail(page, address);
  await expectHeading(page, "Select login method");
  await authenticator.willConfirm();
  await button(page, "Back").click();
  await expectHeading(page, "Sign in");
  // By the browser's autofill.
  await expectMessage(page, deletedPasskey);
  await enterEmail(page, address);
  await authenticator.willConfirm();
  await button(page, "Passkey").click();
  await expectMessage(page, deletedPasskey);
  expect(answers()).toBe(3);

  await button(page, "Password").click();
  await enterPassword(page, "not the password");
  await expectMessage(page, wrongValue);
  await button(page, "Back").click();
  const asked = mailbox.messages.length;
  await button(page, "Passcode").click();
  const code = await mailbox.codeFor(address, asked);
  await enterCode(page, code === "000000" ? "111111" : "000000");
  await expectMessage(page, wrongCode);
  await enterCode(page, code);
  await expectHeading(page, "Create a passkey");
  await button(page, "Skip").click();
  await expectSession(page);
});

test("a second factor with a wrong code and a used one", async ({ page, open, server, mailbox, address }) => {
  const account = await signUp(server.url, mailbox, address, { app: true });
  const { codes } = account;
  if (!codes) throw new Error("the account has no authenticator app");
  const upToCode = async () => {
    await open("hanko-auth");
    await enterEmail(page, address);
    await button(page, "Password").click();
    await enterPassword(page, account.password);
    await expectHeading(page, "Authentication code");
  };
  await upToCode();
  await enterCode(page, codes.app.wrongCode(Date.now()));
  await expectMessage(page, wrongCode);
  const code = await codes.next();
  await enterCode(page, code);
  await expectHeading(page, "Create a passkey");
  await button(page, "Skip").click();
  await expectHeading(page, "Trust this browser?");
  await upToCode();
  await enterCode(page, code);
  await expectMessage(page, wrongCode);
});

test("a change with a stale session, which is then ended", async ({
  page,
  context,
  open,
  server,
  database,
  account,
}) => {
  await setSessionCookie(context, server.url, account);
  await open("hanko-profile");
  await backdateSignIns(database);
  const password = "nine otters under the bridge";
  const change = await section(page, "Change password");
  await change.getByPlaceholder("New password").fill(password);
  await change.getByRole("button", { name: "Save" }).click();
  await expectHeading(page, "Select login method");
  await button(page, "Password").click();
  await enterPassword(page, "not the password");
  await expectMessage(page, wrongValue);
  await enterPassword(page, account.password);
  await expectHeading(page, "Username");
  // The change that asked for the proof was performed.
  await setSessionCookie(context, server.url, { ...account, password });

  await open("hanko-profile");
  const add = await section(page, "Add email");
  await add.getByPlaceholder("New email address").fill(account.address);
  await add.getByRole("button", { name: "Save" }).click();
  await expect(add).toContainText("The email is already taken.");
  await sql(database, "delete from sessions");
  await add.getByPlaceholder("New email address").fill("other@example.com");
  await add.getByRole("button", { name: "Save" }).click();
  await expectHeading(page, "An error has occurred");
  await expectMessage(page, "Your session has expired. Please log in again.");
});

test("a cancelled passkey, one that is created and deleted, and the deletion of the account", async ({
  page,
  context,
  open,
  server,
  account,
  authenticator,
}) => {
  await setSessionCookie(context, server.url, account);
  await open("hanko-profile");
  await authenticator.willFail();
  const create = await section(page, "Create a passkey");
  await create.getByRole("button").click();
  await expectMessage(page, /timed out, was canceled/);
  await authenticator.willConfirm();
  await create.getByRole("button").click();
  const passkey = await section(page, /^Passkey-/);
  await passkey.getByRole("button", { name: "Delete" }).click();
  await passkey.getByRole("button", { name: "yes" }).click();
  await expect(passkey).toHaveCount(0);
  await button(page, "Delete account").click();
  await page.getByRole("checkbox").check();
  await button(page, "Delete").click();
  await expect(page).toHaveTitle("hanko-user-deleted");
});

test("a registration by a provider asks for a username", async ({ page, open, acme, address }) => {
  acme.person(address, { email: address, email_verified: true });
  await open("hanko-registration");
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, address);
  await expectDrawn(page);
  await expectHeading(page, "Enter a new username");
  await page.getByPlaceholder("Username").fill("not a name");
  await button(page, "Continue").click();
  await expectMessage(page, "The username must contain only letters, numbers, and underscores.");
  await page.getByPlaceholder("Username").fill(`ada_${crypto.randomUUID().slice(0, 8)}`);
  await button(page, "Continue").click();
  await expectSession(page);
});

test("a sign-in by a provider that is cancelled, or meets another account", async ({
  page,
  open,
  acme,
  account,
}) => {
  acme.person(account.address, { email: account.address, email_verified: false });
  await open("hanko-login");
  await button(page, "Continue with Acme").click();
  await button(page, "Turn back").click();
  await expectDrawn(page);
  await expectMessage(page, /^Access denied\. The request was cancelled/);
  await button(page, "Continue with Acme").click();
  await signInAtAcme(page, account.address);
  // The components have no other words for an `error` of the callback.
  await expectMessage(page, technicalError);
  await expectDrawn(page);
  await enterEmail(page, account.address);
  await expectHeading(page, "Select login method");
});

test("a flow that has expired", async ({ page, open, database, address }) => {
  await open("hanko-auth");
  await sql(database, "update flows set expires_at = now() - interval '1 minute'");
  await enterEmail(page, address);
  await expectMessage(page, /^The session has expired/);
});
