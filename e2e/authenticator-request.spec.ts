import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { readPng } from "../server/testing/qr-reading.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { createUafAuthenticator } from "../server/testing/uaf-authenticator/authenticator.ts";
import { type Account, signUp } from "./account.ts";
import { test as base, expect } from "./fixtures.ts";
import { button, declinePasskey, enterCode, expectPage, opener, signInByPassword } from "./steps.ts";
import { stile } from "./stile.ts";

/**
 * Signing in with an authenticator that answers requests: the page shows a QR code, and the authenticator calls
 * the server.
 */

/** The application that an account belongs to: it registers authenticators with its key. */
interface Application {
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

interface TestFixtures {
  /** The screen of the played authenticator, in a browser of its own. */
  uafAuthenticator: Page;
  /** An account whose second factor is that authenticator. */
  owner: Account;
}

const test = base.extend<TestFixtures, { application: Application }>({
  application: [async ({ server }, use) => use(await applicationAt(server)), { scope: "worker" }],
  uafAuthenticator: async ({ browser, server }, use) => {
    const context = await browser.newContext({ baseURL: server.url });
    await use(await context.newPage());
    await context.close();
  },
  owner: async ({ account, application, uafAuthenticator, server }, use) => {
    await registerAuthenticator(application, uafAuthenticator, await idOf(server, account));
    await use(account);
  },
});

test.use({ settings: { STILE_MFA_AUTHENTICATOR_ENABLED: "true" } });

async function applicationAt(server: RunningServer): Promise<Application> {
  const key = await stile(server, ["keys", "create", "--interface", "authenticator"]);
  return {
    async call(method, path, body) {
      const answer = await fetch(`${server.url}/authenticator${path}`, {
        method,
        headers: { authorization: `secret ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, unknown>;
    },
  };
}

/** Signs in by password over REST, up to the second factor. */
async function signInOverRest(server: RunningServer, { address, password }: Account): Promise<FlowClient> {
  const client = flowClient(server.url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: address });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  return client;
}

/** The id of an account, as the application reads it from the user's session. */
async function idOf(server: RunningServer, account: Account): Promise<string> {
  const client = await signInOverRest(server, account);
  if (client.state.name !== "success") throw new Error(`the sign-in ended in ${client.state.name}`);
  return String((await (await client.request("/me")).json()).user_id);
}

const registration = (userId: string) => ({ operation: "REG", userId, username: "ada@example.com" });

async function registerAuthenticator(
  application: Application,
  uafAuthenticator: Page,
  userId: string,
): Promise<void> {
  const { id } = await application.call("POST", "/v1/uaf/requests", registration(userId));
  await press(uafAuthenticator, "Approve", String(id));
}

/** The authenticator's screen in a tab; an open one reloads itself on a new request. */
async function screenOf(uafAuthenticator: Page): Promise<Page> {
  const screen = await uafAuthenticator.context().newPage();
  await screen.goto("/dev/authenticator");
  return screen;
}

/** Presses a button of the authenticator's screen, under one of the requests that it shows. */
async function press(uafAuthenticator: Page, name: "Approve" | "Decline", id: string): Promise<void> {
  const screen = await screenOf(uafAuthenticator);
  const form = screen.locator("form").filter({ has: screen.locator(`input[value="${id}"]`) });
  await form.getByRole("button", { name }).click();
  await expect(screen.getByRole("status")).toHaveText(name === "Approve" ? /^Approved/ : /^Declined/);
  await screen.close();
}

const picture = (page: Page) => page.getByRole("img", { name: "QR code to scan with your app" });

/** Decodes the QR code of the page. */
async function linkOn(page: Page): Promise<string> {
  await expect(picture(page)).toBeVisible();
  const source = (await picture(page).getAttribute("src")) ?? "";
  return readPng(Buffer.from(source.replace("data:image/png;base64,", ""), "base64")).text ?? "";
}

const requestOf = (link: string) => new URL(link).pathname.split("/").at(-1) ?? "";

/** Scans the page's code with the authenticator, and confirms. */
async function scan(uafAuthenticator: Page, page: Page): Promise<void> {
  const link = await linkOn(page);
  const screen = await screenOf(uafAuthenticator);
  await screen.getByLabel("What the QR code says").fill(link);
  await screen.getByRole("button", { name: "Approve this code" }).click();
  await expect(screen.getByRole("status")).toHaveText(/^Approved/);
  await screen.close();
}

async function isSignedIn(page: Page): Promise<boolean> {
  return (await (await page.request.get("/sessions/validate")).json()).is_valid;
}

/** Finishes a sign-in after the authenticator has confirmed. */
async function finishSignIn(page: Page): Promise<void> {
  await declinePasskey(page);
  await expectPage(page, "trust");
  await button(page, "Not now").click();
  await expectPage(page, "success");
}

const waiting = (page: Page) => page.getByText("Waiting for your phone.");

test("the page continues automatically when the authenticator has confirmed", async ({
  page,
  uafAuthenticator,
  owner,
  server,
}) => {
  await signInByPassword(page, owner);
  await expectPage(page, "authenticator");
  await expect(waiting(page)).toBeVisible();
  expect(await linkOn(page)).toMatch(`${server.url}/authenticator/v1/uaf/requests/`);
  expect(await isSignedIn(page)).toBe(false);
  await scan(uafAuthenticator, page);
  await finishSignIn(page);
  expect(await isSignedIn(page)).toBe(true);
});

test("the page continues after a reload with the same code, and after a confirmation without a scan", async ({
  page,
  uafAuthenticator,
  owner,
}) => {
  await signInByPassword(page, owner);
  const link = await linkOn(page);
  await page.reload();
  await expectPage(page, "authenticator");
  expect(await linkOn(page)).toBe(link);
  await expect(waiting(page)).toBeVisible();
  await press(uafAuthenticator, "Approve", requestOf(link));
  await finishSignIn(page);
});

test("a confirmation given while the page was closed is found when it is opened again", async ({
  page,
  uafAuthenticator,
  owner,
}) => {
  await signInByPassword(page, owner);
  const link = await linkOn(page);
  await page.goto("about:blank");
  await press(uafAuthenticator, "Approve", requestOf(link));
  await page.goto("/");
  await finishSignIn(page);
});

test("a wrong answer is reported, and another code replaces it", async ({
  page,
  account,
  application,
  server,
}) => {
  const handheld = createUafAuthenticator();
  const userId = await idOf(server, account);
  const made = await application.call("POST", "/v1/uaf/requests", registration(userId));
  const uafResponse = handheld.register(String(made.request), { facetId: server.url });
  await application.call("PUT", `/v1/uaf/requests/${made.id}`, { uafResponse });

  await signInByPassword(page, account);
  const link = await linkOn(page);
  const send = async (link: string, wrong: object) => {
    const { origin, pathname, searchParams } = new URL(link);
    const headers = {
      authorization: `device ${searchParams.get("token")}`,
      "content-type": "application/json",
    };
    const { request } = await (await fetch(origin + pathname, { headers })).json();
    const answer = handheld.authenticate(request, { facetId: server.url, overrides: wrong });
    await fetch(origin + pathname, {
      method: "PUT",
      headers,
      body: JSON.stringify({ uafResponse: answer }),
    });
  };
  await send(link, { signature: "flipped" });
  await expect(page.locator(".stile-alert-error")).toContainText("Your phone did not confirm.");
  await expect.poll(() => linkOn(page)).not.toBe(link);
  await expect(waiting(page)).toBeVisible();
  await send(await linkOn(page), {});
  await finishSignIn(page);
});

test("a premature continue is reported, and the page stays", async ({ page, uafAuthenticator, owner }) => {
  await signInByPassword(page, owner);
  const link = await linkOn(page);
  await press(uafAuthenticator, "Decline", requestOf(link));
  await button(page, "I have confirmed").click();
  await expect(page.getByText("Your phone has not confirmed yet.")).toBeVisible();
  expect(await linkOn(page)).toBe(link);
  await expect(waiting(page)).toBeVisible();
  await scan(uafAuthenticator, page);
  await finishSignIn(page);
});

test("the page polls where streams are blocked", async ({ page, uafAuthenticator, owner, pageErrors }) => {
  pageErrors.expect(/EventSource/);
  await page.route("**/events?token=**", async (route) => {
    const { accept = "" } = await route.request().allHeaders();
    if (!accept.includes("text/event-stream")) return route.continue();
    await route.fulfill({ contentType: "text/html", body: "<title>Proxy</title>" });
  });
  await signInByPassword(page, owner);
  await expectPage(page, "authenticator");
  await scan(uafAuthenticator, page);
  await finishSignIn(page);
});

test("over REST the payload has all that a client needs to wait", async ({
  uafAuthenticator,
  owner,
  server,
}) => {
  const client = await signInOverRest(server, owner);
  const { request_id, valid_until, qr_image_source, events_href } = client.state.payload;
  expect(client.state.name).toBe("login_authenticator");
  expect(Date.parse(String(valid_until))).toBeGreaterThan(Date.now());
  expect(qr_image_source).toMatch(/^data:image\/png;base64,/);
  const status = async (wait: number) =>
    (await (await fetch(`${server.url}${events_href}&wait=${wait}`)).json()).status;
  expect(await status(0)).toBe("PENDING");
  await client.act("authenticator_verify");
  expect([client.last.status, client.state.error?.code]).toEqual([400, "authenticator_request_pending"]);
  const answered = status(20);
  await press(uafAuthenticator, "Approve", String(request_id));
  expect(await answered).toBe("OK");
  await client.act("authenticator_verify");
  expect(client.state.name).toBe("device_trust");
});

test("an app or a recovery code replaces an authenticator", async ({
  page,
  uafAuthenticator,
  server,
  mailbox,
  address,
  application,
}) => {
  const account = await signUp(server.url, mailbox, address, { app: true });
  await signInByPassword(page, account);
  await expectPage(page, "appCode");
  await enterCode(page, (await account.codes?.next()) ?? "");
  await finishSignIn(page);
  const { user_id } = await (await page.request.get("/me")).json();
  await registerAuthenticator(application, uafAuthenticator, user_id);
  await page.context().clearCookies();

  await signInByPassword(page, account);
  await expectPage(page, "authenticator");
  const link = await linkOn(page);
  await button(page, "Enter a code of six digits instead").click();
  await expectPage(page, "appCode");
  await button(page, "Back").click();
  await expectPage(page, "authenticator");
  expect(await linkOn(page)).toBe(link);
  await button(page, "Enter a code of six digits instead").click();
  await button(page, "Confirm with your phone instead").click();
  await expectPage(page, "authenticator");
  await opener(page, "Use a recovery code").click();
  await page.getByLabel("Recovery code").fill(account.recoveryCodes[0] ?? "");
  await button(page, "Use this code").click();
  await expectPage(page, "trust");
  await button(page, "Not now").click();
  await expectPage(page, "success");
});

test("an expired code is renewed automatically", async ({ page, owner, database }) => {
  await signInByPassword(page, owner);
  await expectPage(page, "authenticator");
  const link = await linkOn(page);
  await withClient(database ?? "", (client) =>
    client.query("update authenticator_requests set valid_until = clock_timestamp() where id = $1", [
      requestOf(link),
    ]),
  );
  await expect.poll(() => linkOn(page)).not.toBe(link);
  await expectPage(page, "authenticator");
  await expect(page.locator(".stile-alert")).toHaveCount(0);
  await expect(waiting(page)).toBeVisible();
});

test("a keyboard reaches every control", async ({ page, owner }) => {
  await signInByPassword(page, owner);
  await expectPage(page, "authenticator");
  await expect(waiting(page)).toBeVisible();
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("Tab");
  await expect(page.locator(":focus")).toHaveText("Use another account");
  await page.keyboard.press("Tab");
  await expect(page.locator(":focus")).toHaveText("I have confirmed");
  await expect(page.locator(":focus")).toHaveCSS("outline-style", /solid|auto/);
  await page.keyboard.press("Enter");
  await expect(page.getByText("Your phone has not confirmed yet.")).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`it is accessible, on a phone and with a ${colorScheme} background`, async ({ page, owner }) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await signInByPassword(page, owner);
    await expectPage(page, "authenticator");
    await expect(waiting(page)).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, help }) => `${id}: ${help}`)).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    // A camera needs a white border around the code on any background.
    await expect(picture(page)).toHaveCSS("background-color", "rgb(255, 255, 255)");
    const box = await picture(page).boundingBox();
    expect(box?.width).toBeGreaterThan(200);
    expect(Math.abs((box?.width ?? 0) - (box?.height ?? 0))).toBeLessThan(1);
  });
}

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the code is shown, and a button continues", async ({ page, uafAuthenticator, owner }) => {
    await page.goto("/");
    await page.getByLabel("Email", { exact: true }).fill(owner.address);
    await button(page, "Continue").click();
    await button(page, "Enter your password").click();
    await page.getByLabel("Password", { exact: true }).fill(owner.password);
    await button(page, "Sign in").click();
    await expectPage(page, "authenticator");
    await expect(waiting(page)).toBeHidden();
    await button(page, "I have confirmed").click();
    await expect(page.getByText("Your phone has not confirmed yet.")).toBeVisible();
    await scan(uafAuthenticator, page);
    await button(page, "I have confirmed").click();
    await expectPage(page, "trust");
    await button(page, "Not now").click();
    await expectPage(page, "success");
  });
});
