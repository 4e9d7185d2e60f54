import { expect, type FrameLocator, type Locator, type Page } from "@playwright/test";

/** Steps of a user on the pages. Controls are found by their labels. */

export const titles = {
  login: "Sign in",
  methods: "How would you like to sign in?",
  password: "Enter your password",
  code: "Check your email",
  codeBySms: "Check your phone",
  secondCodeBySms: "Enter the code from the SMS",
  setUpSms: "Set up codes by SMS",
  newPassword: "Choose a new password",
  setPassword: "Set a password",
  createPasskey: "Sign in without a password",
  usePasskey: "Use your passkey",
  registration: "Create your account",
  success: "You are signed in",
  secondStep: "Add a second step",
  setUpApp: "Set up your authenticator app",
  setUpKey: "Set up a security key",
  appCode: "Enter the code of your app",
  securityKey: "Confirm with your security key",
  authenticator: "Confirm with your phone",
  trust: "Is this your own device?",
  account: "Your account",
  deleted: "Your account is gone",
  reauthentication: "Is it still you?",
  consent: "Allow access to your account?",
  consentAnswered: "Thank you",
  accountChoice: "Choose an account",
  deviceCode: "Sign in on a device",
  deviceConsent: "Sign in on the device?",
} as const;

/** What shows the steps: a page, or a frame in one. */
type Place = Page | FrameLocator;

export async function expectPage(page: Place, title: keyof typeof titles): Promise<void> {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(titles[title]);
}

export async function openLogin(page: Page, query = ""): Promise<void> {
  await page.goto(`/${query}`);
  await expectPage(page, "login");
}

export const emailField = (page: Place) => page.getByLabel("Email", { exact: true });
export const passwordField = (page: Place) => page.getByLabel("Password", { exact: true });
export const newPasswordField = (page: Page) => page.getByLabel("New password", { exact: true });
export const codeField = (page: Place) => page.getByLabel("Code", { exact: true });
export const button = (page: Place, name: string | RegExp) => page.getByRole("button", { name });

/** The answer to the choice to stay signed in, which the page sends in the background. */
export const choiceAnswer = (page: Page) =>
  page.waitForResponse((response) => response.request().postData()?.includes("remember_me") ?? false);

export async function enterAddress(page: Place, address: string): Promise<void> {
  await emailField(page).fill(address);
  await button(page, "Continue").click();
}

export async function chooseMethod(page: Place, address: string, method: "password" | "code"): Promise<void> {
  await enterAddress(page, address);
  const heading = page.getByRole("heading", { level: 1 });
  const known = [titles.methods, titles[method === "password" ? "code" : "password"], titles[method]];
  await expect(heading).toHaveText(new RegExp(known.join("|").replaceAll("?", "\\?")));
  // A browser that has signed in before is led past the choice.
  const shown = await heading.textContent();
  if (shown === titles[method]) return;
  if (shown !== titles.methods) await button(page, "Other ways to sign in").click();
  await expectPage(page, "methods");
  await button(page, method === "password" ? "Enter your password" : "Get a code by email").click();
  await expectPage(page, method);
}

export async function enterPassword(page: Place, password: string): Promise<void> {
  await passwordField(page).fill(password);
  await button(page, "Sign in").click();
}

/** Typed digit by digit; the last one may already submit it. */
export async function enterCode(page: Page, code: string): Promise<void> {
  await codeField(page).click();
  await page.keyboard.type(code);
}

/** Has a new code sent, and waits until the page says so: until then it takes none. */
export async function sendNewCode(page: Page): Promise<void> {
  await button(page, "Send a new code").click();
  await expect(page.getByText("A new code is on its way.")).toBeVisible();
}

/** The page offers a passkey to users who sign in without one. */
export async function declinePasskey(page: Place): Promise<void> {
  await expectPage(page, "createPasskey");
  await button(page, "Not now").click();
}

/** The page offers a second factor on registration. */
export async function declineSecondStep(page: Page): Promise<void> {
  await expectPage(page, "secondStep");
  await button(page, "Not now").click();
}

/** Signs in with the password, up to the next question. */
export async function signInByPassword(
  page: Page,
  { address, password }: { address: string; password: string },
): Promise<void> {
  await openLogin(page);
  await chooseMethod(page, address, "password");
  await enterPassword(page, password);
}

/** The summary that opens a disclosure of the page. */
export const opener = (page: Page, name: string | RegExp) =>
  page.locator("summary").filter({ hasText: name });

/** A section of the account page, by its title. */
export const panel = (page: Page, title: string) => page.getByRole("region", { name: title });

/** An item of the account, by its name. */
export const row = (page: Page, title: string) => page.getByRole("listitem").filter({ hasText: title });

/** Opens an action of an item, and confirms it. */
export async function confirmIn(page: Page, title: string, action: string, answer: string): Promise<void> {
  await row(page, title).locator("summary").filter({ hasText: action }).click();
  await row(page, title).getByRole("button", { name: answer }).click();
}

/** Declines the offered passkey and expects the end of the sign-in. */
export async function finishSignIn(page: Page): Promise<void> {
  await declinePasskey(page);
  await expectPage(page, "success");
}

/**
 * Clicks until the click has an effect: Chromium drops clicks into a frame of another origin that moved or changed its
 * size within the last half second.
 */
export async function press(button: Locator, effect: () => Promise<unknown>): Promise<void> {
  await expect(async () => {
    // Between the two it may have gone.
    if (await button.isVisible()) await button.click({ timeout: 2000 });
    await effect();
  }).toPass();
}

/** A virtual authenticator would confirm the passkey of the field before the button for it is pressed. */
export const withoutAutofill = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });

/** Holds the scripts of the pages back until the returned function is called. */
export async function holdScripts(page: Page): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/assets\/.*\.js/, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}
