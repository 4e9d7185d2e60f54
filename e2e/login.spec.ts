import { signUp } from "./account.ts";
import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  emailField,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  newPasswordField,
  openLogin,
  withoutAutofill,
} from "./steps.ts";

/** Verifies with the server, not the page, that the user is signed in. */
async function expectSession(page: import("@playwright/test").Page, address: string): Promise<void> {
  const checked = await (await page.request.get("/sessions/validate")).json();
  expect(checked.is_valid).toBe(true);
  const me = await (await page.request.get("/me")).json();
  expect(me.emails[0].address).toBe(address);
}

test("a user signs in with the passkey button", { tag: "@next" }, async ({
  page,
  server,
  mailbox,
  address,
  authenticator,
}) => {
  const account = await signUp(server.url, mailbox, address, { passkey: true });
  await authenticator.take(account.authenticator);
  await withoutAutofill(page);
  await authenticator.willConfirm();
  await openLogin(page);
  await button(page, /Sign in with a passkey/).click();
  await expectPage(page, "success");
  await expectSession(page, address);
});

test("a user signs in by passkey autofill, without a click", async ({
  page,
  server,
  mailbox,
  address,
  authenticator,
}) => {
  const account = await signUp(server.url, mailbox, address, { passkey: true });
  await authenticator.take(account.authenticator);
  // Chromium answers a conditional request at once when its virtual authenticator has a matching passkey.
  await authenticator.willConfirm();
  await page.goto("/");
  await expectPage(page, "success");
  await expectSession(page, address);
});

test("the field for the address asks the browser to fill in passkeys", async ({ page, authenticator }) => {
  await authenticator.willWait();
  await openLogin(page);
  await expect(page.getByLabel("Email", { exact: true })).toHaveAttribute("autocomplete", /\bwebauthn$/);
});

test("a browser without passkeys of this site falls back to the other methods", async ({
  page,
  account,
  authenticator,
}) => {
  await authenticator.willConfirm();
  await openLogin(page);
  await button(page, /Sign in with a passkey/).click();
  await expect(
    page.getByText("The passkey was not used. You can try again, or choose another way."),
  ).toBeVisible();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
});

test("a press on the passkey button while autofill is still opening leaves a prompt open", async ({
  page,
  authenticator,
}) => {
  await authenticator.willWait();
  // Autofill opens right after the prompt, which ends the prompt: the browser has one request at a time.
  await page.addInitScript(() => {
    const { credentials } = navigator;
    const get = credentials.get.bind(credentials);
    const isAvailable = PublicKeyCredential.isConditionalMediationAvailable.bind(PublicKeyCredential);
    const { promise: prompted, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    PublicKeyCredential.isConditionalMediationAvailable = async () => {
      // The first call is about what the browser can do.
      calls += 1;
      if (calls > 1) await prompted;
      return isAvailable();
    };
    const requests: { kind: string; isOpen: boolean }[] = [];
    const show = () => {
      document.documentElement.dataset.requests = requests
        .map(({ kind, isOpen }) => `${kind} ${isOpen ? "open" : "ended"}`)
        .join(", ");
    };
    credentials.get = (options) => {
      const request = { kind: options?.mediation ?? "prompt", isOpen: true };
      requests.push(request);
      show();
      const answer = get(options);
      answer.catch(() => {
        request.isOpen = false;
        show();
      });
      if (!options?.mediation) resolve();
      return answer;
    };
  });
  await openLogin(page);
  await button(page, /Sign in with a passkey/).click();
  await expect(page.locator("html")).toHaveAttribute(
    "data-requests",
    "prompt ended, conditional ended, prompt open",
  );
});

test("a prompt for a passkey with which nothing happens, or that is cancelled, leaves every way open", async ({
  page,
  account,
  authenticator,
}) => {
  await withoutAutofill(page);
  await authenticator.willWait();
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await button(page, "Use another account").click();
  await expectPage(page, "login");
  await expect(emailField(page)).toHaveValue("");

  // The browser's prompt is open, and the user does nothing.
  await button(page, /Sign in with a passkey/).click();
  await expect(page.getByText("Waiting for your browser…")).toBeVisible();
  await expect(page.getByText("Nothing happening? Try again, or go back")).toBeVisible();
  await button(page, "Try again").click();
  await expect(page.getByText("Waiting for your browser…")).toBeVisible();
  await button(page, "Back").click();
  await expectPage(page, "login");

  // A prompt that is cancelled and one that times out reject alike (WebAuthn Level 3, 5.1.4.2).
  await page.evaluate(() => {
    navigator.credentials.get = async () => {
      throw new DOMException("The operation either timed out or was not allowed.", "NotAllowedError");
    };
  });
  await button(page, /Sign in with a passkey/).click();
  await expect(
    page.getByText("The passkey was not used. You can try again, or choose another way."),
  ).toBeVisible();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
});

test("an unknown passkey is rejected, and the page stays usable", async ({
  page,
  server,
  account,
  authenticator,
}) => {
  const { softwareAuthenticator } = await import("../server/testing/webauthn-authenticator.ts");
  const unregisteredAuthenticator = softwareAuthenticator();
  unregisteredAuthenticator.create(
    {
      rp: { id: new URL(server.url).hostname, name: "Stile" },
      user: {
        id: "c3RyYW5nZXI",
        name: "stranger",
        displayName: "stranger",
      },
      challenge: "AAAAAAAAAAAAAAAAAAAAAA",
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { residentKey: "required" },
    },
    { origin: server.url },
  );
  await authenticator.take(unregisteredAuthenticator);
  await withoutAutofill(page);
  await openLogin(page);
  await authenticator.willConfirm();
  await button(page, /Sign in with a passkey/).click();
  await expect(page.getByText("We could not accept this passkey.")).toBeVisible();
  await authenticator.willWait();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
});

test("a user signs in with a password, and adds a passkey during the sign-in", async ({
  page,
  account,
  authenticator,
}) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await expectPage(page, "createPasskey");
  await authenticator.willConfirm();
  await button(page, "Create a passkey").click();
  await expectPage(page, "success");
  await expectSession(page, account.address);
  expect(await authenticator.count()).toBe(1);
});

test("a user signs in with a mailed code", async ({ page, account, mailbox }) => {
  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  await enterCode(page, await mailbox.codeFor(account.address, asked));
  await finishSignIn(page);
  await expectSession(page, account.address);
});

test("a user who forgot the password sets a new one, and the old one is rejected", { tag: "@next" }, async ({
  page,
  context,
  account,
  mailbox,
}) => {
  const replacement = "nine otters under the bridge";
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  const asked = mailbox.messages.length;
  await button(page, "Forgot your password?").click();
  await expectPage(page, "code");
  await enterCode(page, await mailbox.codeFor(account.address, asked));
  await expectPage(page, "newPassword");
  await newPasswordField(page).fill(replacement);
  await button(page, "Save new password").click();
  await finishSignIn(page);
  await expectSession(page, account.address);
  await context.clearCookies();

  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await expect(page.getByText("This password does not match.")).toBeVisible();
  await enterPassword(page, replacement);
  await expectPage(page, "success");
});
