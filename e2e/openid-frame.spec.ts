import { createServer, type Server } from "node:http";
import type { FrameLocator, Locator, Page } from "@playwright/test";
import * as openid from "openid-client";
import { freePort } from "../server/testing/free-port.ts";
import type { Account } from "./account.ts";
import { codesOf } from "./codes.ts";
import { expect } from "./fixtures.ts";
import { device, test as withApplications } from "./openid-application.ts";
import { signInAtAcme, test as withProvider } from "./provider.ts";
import {
  button,
  codeField,
  emailField,
  expectPage,
  finishSignIn,
  passwordField,
  press,
  signInByPassword,
} from "./steps.ts";

/** Authorization requests in the frame of a page of the operator, which is of the same site as the service. */

const [listedPort, unlistedPort, partnerPort] = [await freePort(), await freePort(), await freePort()];
const listed = `http://localhost:${listedPort}`;
/** Of the same site, and not on the list. */
const unlisted = `http://localhost:${unlistedPort}`;
/** On the list, and of another site. */
const otherSite = `http://app.localhost:${listedPort}`;
/** On the list, and the origin of a client that is not the operator's own. */
const partner = `http://localhost:${partnerPort}`;

const test = withApplications.extend({
  settings: [
    async ({ settings }, use) =>
      use({
        ...settings,
        STILE_EMBED_ORIGINS: [listed, otherSite, partner].join(","),
        STILE_OPENID_CLIENTS: JSON.stringify({
          ...JSON.parse(settings.STILE_OPENID_CLIENTS ?? "{}"),
          partner: {
            name: "A partner",
            redirect_uris: [`${partner}/callback`],
            grants: ["authorization_code", "device_code"],
            first_party: false,
          },
          page: { name: "A page", redirect_uris: [`${listed}/callback`] },
        }),
      }),
    { scope: "worker" },
  ],
});

const testWithProvider = withProvider.extend({
  settings: [
    async ({ settings }, use) =>
      use({
        ...settings,
        STILE_EMBED_ORIGINS: listed,
        STILE_OPENID_ENABLED: "true",
        STILE_OPENID_CLIENTS: JSON.stringify({
          page: { name: "A page", redirect_uris: [`${listed}/callback`] },
        }),
      }),
    { scope: "worker" },
  ],
});

const hosts: Server[] = [];

/** Pages that hold a frame, which their query describes. */
test.beforeAll(async () => {
  for (const port of [listedPort, unlistedPort, partnerPort]) {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
      const isCallback = pathname === "/callback";
      const sandbox = searchParams.get("sandbox");
      const shown = `<style>${searchParams.get("css") ?? ""}</style>
        <h1>Our page</h1><div id="cover"></div>
        <iframe title="Application" src="${escaped(searchParams.get("shows") ?? "")}" height="700"
          ${sandbox === null ? "" : `sandbox="${sandbox}"`}
          allow="${searchParams.get("allow") ?? ""}" width="${searchParams.get("width") ?? 480}"></iframe>`;
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,">
        ${isCallback ? `<h1>Returned: ${searchParams.get("error") ?? "code"}</h1>` : shown}`);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    hosts.push(server);
  }
});
test.afterAll(async () => {
  for (const server of hosts) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** Opens a page that shows an address in its frame. */
async function show(
  page: Page,
  shows: string,
  {
    on = listed,
    ...more
  }: { on?: string; width?: string; css?: string; allow?: string; sandbox?: string } = {},
): Promise<FrameLocator> {
  await page.goto(`${on}/?${new URLSearchParams({ shows, ...more })}`);
  return page.frameLocator("iframe");
}

async function expectWelcome(frame: FrameLocator, { address }: Account): Promise<void> {
  await expect(frame.getByRole("heading")).toHaveText(`Welcome, ${address}`);
}

/** The frame has loaded, and the browser shows nothing of the service in it. */
async function expectEmpty(page: Page, service: string): Promise<void> {
  await expect.poll(() => page.frames()[1]?.url()).toBe("chrome-error://chromewebdata/");
  expect(page.frames().some((frame) => frame.url().startsWith(service))).toBe(false);
}

/** Presses a button that is gone then: a frame ignores clicks on what has just appeared. */
async function pressed(frame: FrameLocator, name: string | RegExp): Promise<void> {
  const pressed = button(frame, name);
  await pressed.waitFor();
  await press(pressed, () => expect(pressed).toBeHidden({ timeout: 2000 }));
}

async function enterFirst(frame: FrameLocator, { address }: Account): Promise<void> {
  await emailField(frame).fill(address);
  await pressed(frame, "Continue");
}

async function enterPassword(frame: FrameLocator, { password }: Account): Promise<void> {
  await passwordField(frame).fill(password);
  await pressed(frame, /^Sign in$/);
}

async function signInInFrame(frame: FrameLocator, account: Account): Promise<void> {
  await expectPage(frame, "login");
  await enterFirst(frame, account);
  await pressed(frame, "Enter your password");
  await enterPassword(frame, account);
  await expectPage(frame, "createPasskey");
  await pressed(frame, "Not now");
}

/** Goes on by the keyboard until a button has the focus, and presses it. */
async function pressByKeyboard(page: Page, button: Locator): Promise<void> {
  const isFocused = () => button.evaluate((element) => element === document.activeElement);
  for (let presses = 0; presses < 10 && !(await isFocused()); presses += 1) await page.keyboard.press("Tab");
  await expect(button).toBeFocused();
  await page.keyboard.press("Enter");
}

/** An authorization request of a client without a secret. */
const requestOf = (issuer: string, clientId: string, redirectUri: string, more = {}) =>
  `${issuer}/oauth/authorize?${new URLSearchParams({
    client_id: clientId,
    response_type: "code",
    scope: "openid",
    redirect_uri: redirectUri,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    ...more,
  })}`;

test("a visitor signs in in a frame, and is signed in to the next application in its frame @next", async ({
  page,
  account,
  shop,
  forum,
}) => {
  const frame = await show(page, shop.url);
  await signInInFrame(frame, account);
  await expectWelcome(frame, account);
  await expectWelcome(await show(page, forum.url), account);
  expect(page.frames()[1]?.url()).toContain(`${forum.url}/callback?`);
});

test("an application has its user sign in again in the frame, and set up a second factor there @next", async ({
  page,
  account,
  careful,
  bank,
}) => {
  await signInByPassword(page, account);
  await finishSignIn(page);
  const again = await show(page, careful.url);
  await expectPage(again, "login");
  await enterFirst(again, account);
  await enterPassword(again, account);
  await expectWelcome(again, account);

  const stronger = await show(page, bank.url);
  await enterFirst(stronger, account);
  await enterPassword(stronger, account);
  await expectPage(stronger, "secondStep");
  await pressed(stronger, /An authenticator app/);
  await expectPage(stronger, "setUpApp");
  const codes = codesOf((await stronger.locator(".stile-secret code").textContent()) ?? "");
  await codeField(stronger).click();
  await page.keyboard.type(await codes.next());
  await pressed(stronger, "Not now");
  await pressed(stronger, "I have saved them");
  await expectWelcome(stronger, account);
});

test("a user chooses an account in a frame @next", async ({ page, account, office }) => {
  await signInByPassword(page, account);
  await finishSignIn(page);
  const frame = await show(page, office.url);
  await expectPage(frame, "accountChoice");
  await pressed(frame, account.address);
  await expectWelcome(frame, account);
});

test("a user allows an application in a frame by the keyboard alone, and denies it another time @next", async ({
  page,
  account,
  reader,
}) => {
  await signInByPassword(page, account);
  await finishSignIn(page);
  const denied = await show(page, reader.url);
  await expectPage(denied, "consent");
  await pressed(denied, "Do not allow");
  await expect(denied.getByRole("heading")).toHaveText("Not signed in: access_denied");

  const frame = await show(page, reader.url, { width: "320" });
  await expectPage(frame, "consent");
  const width = await frame.locator("html").evaluate(({ scrollWidth }) => scrollWidth);
  expect(width).toBeLessThanOrEqual(320);
  await pressByKeyboard(page, button(frame, /^Allow/));
  await expectWelcome(frame, account);
});

test("a user signs out in a frame at the provider, which tells the application @next", async ({
  page,
  account,
  shop,
  careful,
}) => {
  await signInByPassword(page, account);
  await finishSignIn(page);
  await expectWelcome(await show(page, shop.url), account);
  const frame = await show(page, `${shop.url}/sign-out`);
  await expect(frame.getByRole("heading")).toHaveText("Goodbye");
  await expect.poll(() => shop.signedOut, { timeout: 15_000 }).toEqual([expect.stringMatching(/./)]);
  await expectPage(await show(page, careful.url), "login");
});

test("a user signs in a device in a frame, by the keyboard alone @next", async ({
  page,
  account,
  server,
}) => {
  const { codes, tokens } = await device(server.url);
  await signInByPassword(page, account);
  await finishSignIn(page);
  const frame = await show(page, codes.verification_uri);
  await expectPage(frame, "deviceCode");
  await page.keyboard.press("Tab");
  await codeField(frame).focus();
  await page.keyboard.type(codes.user_code);
  await page.keyboard.press("Enter");
  await expectPage(frame, "deviceConsent");
  await expect(frame.getByText("Shop on TV", { exact: true })).toBeVisible();
  await pressByKeyboard(page, button(frame, /^Allow/));
  await expectPage(frame, "consentAnswered");
  expect((await tokens()).claims()?.sub).toEqual(expect.any(String));
});

test("a visitor signs in in a frame with a passkey, if its page lets it use any, and is told otherwise @next", async ({
  page,
  context,
  account,
  server,
  authenticator,
  shop,
}) => {
  await authenticator.willWait();
  await signInByPassword(page, account);
  await expectPage(page, "createPasskey");
  await authenticator.willConfirm();
  await button(page, /Create a passkey/).click();
  await expectPage(page, "success");
  await page.request.post(`${server.url}/logout`, { headers: { origin: server.url } });
  const without = await show(page, shop.url);
  const answer = without.getByText("The passkey was not used.");
  await press(button(without, /with a passkey/), () => expect(answer).toBeVisible({ timeout: 5000 }));

  await context.clearCookies();
  // The passkey is completed in the field, without a click.
  const allow = `publickey-credentials-get ${server.url}`;
  await expectWelcome(await show(page, shop.url, { allow }), account);
});

for (const [name, on] of [
  ["that is not listed", unlisted],
  ["of another site", otherSite],
] as const)
  test(`A285 the frame of a page ${name} stays empty, with a session and without @next`, async ({
    page,
    context,
    account,
    server,
    pageErrors,
    careful,
    reader,
  }) => {
    pageErrors.expect(/frame-ancestors|Framing|frame because/);
    const { codes } = await device(server.url);
    const pages = [careful.url, reader.url, codes.verification_uri, codes.verification_uri_complete ?? ""];
    for (const shown of pages) {
      await show(page, shown, { on });
      await expectEmpty(page, server.url);
    }
    // A page of the same site has begun sign-ins that lead to a request.
    await context.clearCookies();
    await signInByPassword(page, account);
    await finishSignIn(page);
    for (const shown of pages) {
      await show(page, shown, { on });
      await expectEmpty(page, server.url);
    }
  });

test("A285 a frame in a frame stays empty, where one of the pages around it is not listed", async ({
  page,
  account,
  server,
  pageErrors,
  careful,
}) => {
  pageErrors.expect(/frame-ancestors|Framing|frame because/);
  await signInByPassword(page, account);
  await finishSignIn(page);
  await show(page, `${listed}/?${new URLSearchParams({ shows: careful.url })}`, { on: unlisted });
  await expect.poll(() => page.frames()[2]?.url()).toBe("chrome-error://chromewebdata/");
  expect(page.frames().some((frame) => frame.url().startsWith(server.url))).toBe(false);
  await show(page, `${listed}/?${new URLSearchParams({ shows: careful.url })}`, { on: partner });
  await expect(page.frameLocator("iframe").frameLocator("iframe").getByLabel("Email")).toBeVisible();
});

test("A286 a client that is not the operator's own cannot frame the question whether it is allowed @next", async ({
  page,
  account,
  server,
  pageErrors,
}) => {
  pageErrors.expect(/frame-ancestors|Framing|frame because/);
  await signInByPassword(page, account);
  await finishSignIn(page);
  const asked = requestOf(server.url, "partner", `${partner}/callback`);
  await show(page, asked, { on: partner });
  await expectEmpty(page, server.url);
  const frame = await show(page, asked);
  await expectPage(frame, "consent");
  await pressed(frame, /^Allow/);
  await expect(frame.getByRole("heading")).toHaveText("Returned: code");
});

test("A287 a client cannot frame its question by way of a page that has asked for another", async ({
  page,
  account,
  server,
  pageErrors,
}) => {
  pageErrors.expect(/frame-ancestors|Framing|frame because/);
  await signInByPassword(page, account);
  await finishSignIn(page);
  const config = await openid.discovery(new URL(server.url), "partner", undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const codes = await openid.initiateDeviceAuthorization(config, { scope: "openid" });
  const frame = await show(page, codes.verification_uri, { on: partner });
  await expectPage(frame, "deviceCode");
  await codeField(frame).fill(codes.user_code);
  await codeField(frame).press("Enter");
  await expectEmpty(page, server.url);
});

test("A288 a question under an overlay ignores clicks, and says why @next", async ({
  page,
  account,
  reader,
}) => {
  await signInByPassword(page, account);
  await finishSignIn(page);
  const css = "#cover { position: fixed; inset: 0; background: #fff; pointer-events: none }";
  const frame = await show(page, reader.url, { css });
  await expectPage(frame, "consent");
  await expect
    .poll(async () => {
      await button(frame, /^Allow/).click({ force: true });
      return frame.getByText("Something lies over this form").isVisible();
    })
    .toBe(true);
  await expectPage(frame, "consent");
});

/** What the hidden frame of a page is told by a request that asks the user nothing. */
async function silently(page: Page, server: string, on: string): Promise<string> {
  const frame = await show(page, requestOf(server, "page", `${listed}/callback`, { prompt: "none" }), {
    on,
    css: "iframe { display: none }",
  });
  const told = frame.locator("h1");
  await expect(told).toHaveText(/Returned/);
  return (await told.textContent()) ?? "";
}

test("a hidden frame learns without a question whether its visitor is signed in, in any page of the same site @next", async ({
  page,
  account,
  server,
}) => {
  for (const on of [listed, unlisted, otherSite])
    expect(await silently(page, server.url, on)).toBe("Returned: login_required");
  await signInByPassword(page, account);
  await finishSignIn(page);
  for (const on of [listed, unlisted]) expect(await silently(page, server.url, on)).toBe("Returned: code");
  // The browser sends no cookie there.
  expect(await silently(page, server.url, otherSite)).toBe("Returned: login_required");
});

testWithProvider(
  "a user of an identity provider goes there in the whole window, and on to the application @next",
  async ({ page, acme, address, server }) => {
    acme.person(address, { email: address, email_verified: true, name: "Ada" });
    const frame = await show(page, requestOf(server.url, "page", `${listed}/callback`));
    await expectPage(frame, "login");
    const atAcme = page.getByRole("heading", { name: "Acme" });
    await press(button(frame, "Continue with Acme"), () => expect(atAcme).toBeVisible({ timeout: 2000 }));
    await signInAtAcme(page, address);
    await page.waitForURL(`${listed}/callback?*`);
    await expect(page.getByRole("heading")).toHaveText("Returned: code");
  },
);

testWithProvider(
  "a frame that may not lead its window away goes to the identity provider by itself",
  async ({ page, acme, address, server, pageErrors }) => {
    pageErrors.expect(/navigate|sandboxed/);
    acme.person(address, { email: address, email_verified: true, name: "Ada" });
    const sandbox = "allow-scripts allow-forms allow-same-origin";
    const frame = await show(page, requestOf(server.url, "page", `${listed}/callback`), { sandbox });
    await expectPage(frame, "login");
    const left = () =>
      expect.poll(() => page.frames()[1]?.url(), { timeout: 2000 }).not.toContain(server.url);
    await press(button(frame, "Continue with Acme"), left);
  },
);
