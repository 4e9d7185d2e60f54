import type { Page } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import type { Account } from "./account.ts";
import { test as base, expect } from "./fixtures.ts";
import { type OpenidApplication, startOpenidApplication } from "./openid-application.ts";
import { button, chooseMethod, declinePasskey, enterAddress, enterPassword, expectPage } from "./steps.ts";

/** Signing out of applications by their pages, as a person in a browser sees it. */

const secret = "a secret of at least thirty-two characters";
/** That of the service: browsers that block cookies of other sites do not show a frame of another one its session. */
const host = "localhost";

const names = ["shop", "forum"] as const;

type Name = (typeof names)[number];

/** Starts an application for a test. */
async function started(
  clientId: Name,
  ports: Record<Name, number>,
  server: { url: string },
  use: (application: OpenidApplication) => Promise<void>,
): Promise<void> {
  const asked = { port: ports[clientId], issuer: server.url, clientId, secret, host };
  const application = await startOpenidApplication(asked);
  await use(application);
  await application.close();
}

const test = base.extend<Record<Name, OpenidApplication>, { ports: Record<Name, number> }>({
  ports: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const ports = await Promise.all(names.map(async (name) => [name, await freePort()]));
      await use(Object.fromEntries(ports));
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ ports }, use) => {
      const client = (name: string, port: number) => ({
        name,
        secret,
        redirect_uris: [`http://${host}:${port}/callback`],
        post_logout_redirect_uris: [`http://${host}:${port}/goodbye`],
        frontchannel_logout_uri: `http://${host}:${port}/out`,
      });
      const shop = `http://${host}:${ports.shop}`;
      await use({
        STILE_OPENID_ENABLED: "true",
        STILE_EMBED_ORIGINS: shop,
        STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: `${shop}/`,
        STILE_OPENID_CLIENTS: JSON.stringify({
          shop: client("Shop", ports.shop),
          forum: client("Forum", ports.forum),
        }),
      });
    },
    { scope: "worker" },
  ],
  shop: ({ ports, server }, use) => started("shop", ports, server, use),
  forum: ({ ports, server }, use) => started("forum", ports, server, use),
});

async function signInTo(page: Page, { url }: OpenidApplication, account: Account): Promise<void> {
  await page.goto(url);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(`${url}/callback?*`);
}

test("a sign-out at one application signs out of all in their frames, and goes on to it @next", async ({
  page,
  account,
  shop,
  forum,
}) => {
  await signInTo(page, shop, account);
  await page.goto(forum.url);
  await page.waitForURL(`${forum.url}/callback?*`);
  await page.goto(`${shop.url}/sign-out`);
  await page.waitForURL(`${shop.url}/goodbye?state=left`);
  await expect(page.getByRole("heading")).toHaveText("Goodbye");
  expect([shop.endedInFrame.length, forum.endedInFrame.length]).toEqual([1, 1]);
  expect((await page.request.get("/me")).status()).toBe(401);
  await page.goto(forum.url);
  await expectPage(page, "login");
});

test("a sign-out on the account page signs out of an application, and goes on to the sign-in @next", async ({
  page,
  account,
  shop,
}) => {
  await signInTo(page, shop, account);
  await page.goto("/account");
  await button(page, "Sign out").first().click();
  await expectPage(page, "login");
  expect(shop.endedInFrame).toHaveLength(1);
});

test("a sign-out in a frame signs out of all applications, and reaches the address after it @next", async ({
  page,
  account,
  shop,
  forum,
}) => {
  await signInTo(page, shop, account);
  await page.goto(forum.url);
  await page.waitForURL(`${forum.url}/callback?*`);
  await page.goto(`${shop.url}/silent-sign-out`);
  await expect
    .poll(() => page.frames().map((frame) => frame.url()))
    .toEqual([`${shop.url}/silent-sign-out`, `${shop.url}/goodbye?state=left`]);
  expect([shop.endedInFrame.length, forum.endedInFrame.length]).toEqual([1, 1]);
  expect((await page.request.get("/me")).status()).toBe(401);
});

test("a sign-out on the account page in a frame leaves the frame, and returns to the application around it @next", async ({
  page,
  account,
  shop,
}) => {
  await signInTo(page, shop, account);
  await page.goto(`${shop.url}/framed-account`);
  const returned = page.waitForRequest(`${shop.url}/`);
  await button(page.frameLocator("iframe"), "Sign out").first().click();
  expect((await returned).isNavigationRequest()).toBe(true);
  // The application sends its visitor to sign in.
  await expectPage(page, "login");
  expect(shop.endedInFrame).toHaveLength(1);
});

test("a press on the page that asks signs out of an application, and goes on to it", async ({
  page,
  account,
  shop,
}) => {
  await signInTo(page, shop, account);
  const asked = new URLSearchParams({ client_id: "shop", post_logout_redirect_uri: `${shop.url}/goodbye` });
  await page.goto(`/oauth/logout?${asked}`);
  await button(page, "Sign out").click();
  await page.waitForURL(`${shop.url}/goodbye`);
  expect(shop.endedInFrame).toHaveLength(1);
});

test("A284 an application that does not answer holds no one up", async ({ page, account, shop }) => {
  await signInTo(page, shop, account);
  await page.route(`${shop.url}/out?*`, () => {});
  await page.goto(`${shop.url}/sign-out`, { waitUntil: "commit" });
  await expect(page.getByText("You are also being signed out of your applications.")).toBeVisible();
  await page.waitForURL(`${shop.url}/goodbye?state=left`, { timeout: 10_000 });
});

test("A284 a page of an application leads the browser nowhere else", async ({
  page,
  account,
  shop,
  forum,
  pageErrors,
}) => {
  pageErrors.expect(/Unsafe attempt to initiate navigation|sandboxed|^uncaught: $/);
  await signInTo(page, shop, account);
  await page.goto(forum.url);
  await page.waitForURL(`${forum.url}/callback?*`);
  await page.route(`${shop.url}/out?*`, (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<script>top.location = "${shop.url}/callback?error=stolen"; open("${shop.url}/goodbye")</script>`,
    }),
  );
  await page.goto(`${forum.url}/sign-out`);
  await page.waitForURL(`${forum.url}/goodbye?state=left`);
  expect(page.context().pages()).toHaveLength(1);
  expect(forum.endedInFrame).toHaveLength(1);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("a user goes on by a link, and is signed out of the application @next", async ({
    page,
    account,
    shop,
  }) => {
    await page.goto(shop.url);
    await button(page, "Continue").click();
    await enterAddress(page, account.address);
    await button(page, "Enter your password").click();
    await enterPassword(page, account.password);
    await page.getByRole("link", { name: /localhost/ }).click();
    await page.waitForURL(`${shop.url}/callback?*`);
    await page.goto(`${shop.url}/sign-out`);
    await expect(page.getByText("You are also being signed out of your applications.")).toBeVisible();
    await expect.poll(() => shop.endedInFrame.length, { timeout: 10_000 }).toBe(1);
    await page.reload();
    await page.getByRole("link", { name: "Continue" }).click();
    await page.waitForURL(`${shop.url}/goodbye?state=left`);
  });
});
