import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { verifyReceipt } from "../server/passkey-server/receipt-verification.ts";
import { freePort } from "../server/testing/free-port.ts";
import { test as base, expect } from "./fixtures.ts";
import { makeTenant, type Shop, startShop } from "./shop.ts";

const test = base.extend<{ customer: string }, { port: number; shop: Shop }>({
  port: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => use(await freePort()),
    { scope: "worker" },
  ],
  settings: [
    async ({ port }, use) =>
      use({
        STILE_HOSTED_ALLOWED_REDIRECT_URLS: `http://127.0.0.1:${port}/**`,
        STILE_PASSKEY_SERVER_RELYING_PARTY_DISPLAY_NAME: "Heron Books",
      }),
    { scope: "worker" },
  ],
  shop: [
    async ({ server, port }, use) => {
      const shop = await startShop(server, port);
      await use(shop);
      await shop.close();
    },
    { scope: "worker" },
  ],
  /** A customer whose passkey is in the browser's own authenticator. */
  customer: async ({ shop, authenticator }, use) => {
    const customer = `ada-${crypto.randomUUID()}`;
    await authenticator.take(await shop.register(customer, "Ada Lovelace"));
    await use(customer);
  },
});

const order = {
  title: "Order 17",
  amount: "149.90",
  currency: "EUR",
  to: "Bergmann & Söhne",
  items: [
    { title: "Seven Herons", quantity: 2, amount: "99.90" },
    { title: "The Lake", amount: 50 },
  ],
  gift: false,
};

const title = (page: Page) => page.getByRole("heading", { level: 1 });
const confirm = (page: Page) => page.getByRole("button", { name: "Confirm with passkey" });
const decline = (page: Page) => page.getByRole("button", { name: "Decline" });

async function opens(page: Page, url: string): Promise<void> {
  const answer = await page.goto(url);
  expect(answer?.headers()["cache-control"]).toContain("no-store");
  await expect(title(page)).toHaveText("Do you agree to this?");
  await expect(confirm(page)).not.toHaveAttribute("aria-disabled");
}

test("A69 a customer reads the transaction, confirms it, and the shop has a receipt", async ({
  page,
  shop,
  customer,
  authenticator,
  server,
}) => {
  const { id, url } = await shop.ask(customer, order);
  await opens(page, url);
  await expect(page.getByText("Heron Books asks for your agreement.")).toBeVisible();
  await expect(page.getByText("Ada Lovelace", { exact: true })).toBeVisible();
  const agreement = page.getByRole("region", { name: "What you agree to" });
  expect(await agreement.getByRole("term").allTextContents()).toEqual(["To", "Items", "gift"]);
  for (const text of ["Order 17", "€149.90", "Bergmann & Söhne", "€50.00", "no"])
    await expect(agreement.getByText(text, { exact: true })).toBeVisible();
  await expect(page.getByText(`taken back to ${new URL(shop.url).host}`)).toBeVisible();

  await authenticator.willConfirm();
  await confirm(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  await expect(title(page)).toHaveText("Ordered");
  const verdict = verifyReceipt(shop.receipts.get(id) ?? "", {
    jwks: await shop.jwks(),
    origins: [server.url],
  });
  expect(verdict).toMatchObject({
    ok: true,
    receipt: { transactionId: id, userId: customer, data: order, userVerified: true },
  });
});

test("declining redirects back, and nothing was signed", async ({ page, shop, customer }) => {
  const { id, url } = await shop.ask(customer, order);
  await opens(page, url);
  await decline(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  await expect(title(page)).toHaveText("Not ordered: access_denied");
  expect(shop.receipts.has(id)).toBe(false);
  await page.goto(url);
  await expect(title(page)).toHaveText("You declined");
});

test("every step can be performed with a keyboard", async ({ page, shop, customer, authenticator }) => {
  await authenticator.willConfirm();
  await opens(page, (await shop.ask(customer, order)).url);
  const focused = page.locator(":focus");
  await page.keyboard.press("Tab");
  await expect(focused).toHaveText("Show the exact text");
  await page.keyboard.press("Enter");
  await expect(page.locator("code").last()).toHaveText(
    '{"amount":"149.90","currency":"EUR","gift":false,"items":[{"amount":"99.90","quantity":2,"title":"Seven Herons"},{"amount":50,"title":"The Lake"}],"title":"Order 17","to":"Bergmann & Söhne"}',
  );
  await page.keyboard.press("Tab");
  await expect(focused).toHaveText("Confirm with passkey");
  await expect(focused).toHaveCSS("outline-style", "solid");
  await page.keyboard.press("Tab");
  await expect(focused).toHaveText("Decline");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${shop.url}/back?*`);
  await expect(title(page)).toHaveText("Ordered");
});

test("the page stays open after the passkey prompt is cancelled", async ({
  page,
  shop,
  customer,
  authenticator,
}) => {
  await authenticator.willFail();
  await opens(page, (await shop.ask(customer, order)).url);
  await confirm(page).click();
  await expect(page.getByRole("alert").filter({ hasText: "nothing was signed" })).toBeVisible();
  await expect(confirm(page)).toBeFocused();
  await decline(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
});

test("after a rejected answer the passkey is prompted for again, with a new challenge", async ({
  page,
  shop,
  customer,
  authenticator,
  pageErrors,
}) => {
  pageErrors.expect(/status of 401/);
  await authenticator.willConfirm();
  await opens(page, (await shop.ask(customer, order)).url);
  await page.route("**/transaction/confirm", async (route) => {
    const sent = route.request().postDataJSON();
    const { signature } = sent.credential.response;
    sent.credential.response.signature = signature.slice(0, -2) + (signature.endsWith("AA") ? "BA" : "AA");
    await route.continue({ postData: JSON.stringify(sent) });
  });
  await confirm(page).click();
  await expect(page.getByText("We could not accept this passkey.")).toBeVisible();
  await page.unroute("**/transaction/confirm");
  await confirm(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  await expect(title(page)).toHaveText("Ordered");
});

const lost = /ERR_CONNECTION_RESET/;
const loseReplies = (page: Page) =>
  page.route("**/transaction/confirm", async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  });

test("a retry after a lost reply leaves the shop one receipt", async ({
  page,
  shop,
  customer,
  authenticator,
  pageErrors,
}) => {
  pageErrors.expect(lost);
  const { id, url } = await shop.ask(customer, order);
  await authenticator.willConfirm();
  await opens(page, url);
  await loseReplies(page);
  await confirm(page).click();
  await expect(page.getByText("We cannot reach the service.")).toBeVisible();
  await page.unroute("**/transaction/confirm");
  await confirm(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  await expect(title(page)).toHaveText("Ordered");
  expect(shop.receipts.has(id)).toBe(true);
  await page.goto(url);
  await expect(title(page)).toHaveText("This was answered before");
});

for (const [answer, result] of [
  ["Confirm with passkey", "Thank you, it is confirmed"],
  ["Decline", "You declined"],
] as const) {
  test(`reloading the page after "${answer}" redirects back`, async ({
    page,
    shop,
    customer,
    authenticator,
    pageErrors,
  }) => {
    pageErrors.expect(lost);
    await authenticator.willConfirm();
    await opens(page, (await shop.ask(customer, order)).url);
    await loseReplies(page);
    await page.getByRole("button", { name: answer }).click();
    await expect(page.getByText("We cannot reach the service.")).toBeVisible();
    await page.unroute("**/transaction/confirm");
    await page.reload();
    await expect(title(page)).toHaveText(result);
    await expect(page).not.toHaveURL(/token/);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await page.getByRole("button", { name: `Continue to ${new URL(shop.url).host}` }).click();
    await page.waitForURL(`${shop.url}/back?*`);
    await expect(title(page)).toHaveText(/^(Ordered|Not ordered: access_denied)$/);
  });
}

test("A104 the token leaves the address at once, is in no referrer, and the page can be reloaded", async ({
  page,
  shop,
  customer,
}) => {
  const { url } = await shop.ask(customer, order);
  const token = new URL(url).searchParams.get("token") ?? "";
  const referrers: string[] = [];
  page.on("request", (request) => {
    if (!request.isNavigationRequest() && request.method() === "POST")
      referrers.push(request.headers().referer ?? "");
  });
  await opens(page, url);
  expect(page.url()).toBe(url.replace(/\?.*/, ""));
  expect(
    await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])),
  ).not.toContain(token);
  await page.reload();
  await expect(title(page)).toHaveText("Do you agree to this?");
  await expect(confirm(page)).not.toHaveAttribute("aria-disabled");
  expect(page.url()).not.toContain(token);
  await decline(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  expect(referrers.join()).not.toContain(token);
  expect(await page.evaluate(() => document.referrer)).not.toContain(token);
});

test("an abandoned page expires", async ({ page, shop, customer }) => {
  await page.clock.install();
  await opens(page, (await shop.ask(customer, order)).url);
  await page.clock.fastForward("04:50");
  await expect(title(page)).toHaveText("Do you agree to this?");
  await page.clock.fastForward("00:15");
  await expect(title(page)).toHaveText("This took a little long");
  await expect(title(page)).toBeFocused();
});

test("a page that was answered before and one that never existed show a message", async ({
  page,
  shop,
  customer,
  authenticator,
  pageErrors,
}) => {
  const { url } = await shop.ask(customer, order);
  await authenticator.willConfirm();
  await opens(page, url);
  await confirm(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  await page.goto(url);
  await expect(title(page)).toHaveText("This was answered before");
  await expect(page).not.toHaveURL(/token/);
  pageErrors.expect(/status of 404 .*\/confirm/);
  const answer = await page.goto("/confirm?token=unknown-token");
  expect(answer?.status()).toBe(404);
  await expect(title(page)).toHaveText("This page is no longer open");
  await expect(page).not.toHaveURL(/token/);
  await page.goto("/confirm");
  await expect(title(page)).toHaveText("This page is no longer open");
});

test("A102 invisible characters are shown, and markup is text", async ({ page, shop, customer }) => {
  const data = {
    to: "Ada\u202ekcalB",
    note: "<img src=x onerror=alert(1)>",
    lines: "one\ntwo",
    bank: "pay\u200bpal",
  };
  await opens(page, (await shop.ask(customer, data)).url);
  await expect(page.getByRole("alert").filter({ hasText: "cannot be seen" })).toBeVisible();
  const agreement = page.getByRole("region", { name: "What you agree to" });
  await expect(agreement.getByTitle("character U+202E, which cannot be seen")).toBeVisible();
  await expect(agreement.getByTitle("character U+200B, which cannot be seen")).toBeVisible();
  await expect(agreement.getByText(data.note)).toBeVisible();
  await expect(agreement.locator("img")).toHaveCount(0);
});

for (const scheme of ["light", "dark"] as const) {
  test(`it is accessible, ${scheme}`, async ({ page, shop, customer }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 320, height: 640 });
    await opens(
      page,
      (await shop.ask(customer, { ...order, reference: "X".repeat(300), hidden: "a\u202eb" })).url,
    );
    await page.getByText("Show the exact text").click();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
}

test("A102 deeply nested data is readable on a narrow screen", async ({ page, shop, customer }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const nest = (levels: number, lists: boolean): unknown => {
    if (levels === 0) return { amount: "149.90 EUR" };
    return lists ? [nest(levels - 1, lists)] : { part: nest(levels - 1, lists) };
  };
  const data = { objects: nest(26, false), lists: nest(26, true) };
  await opens(page, (await shop.ask(customer, data)).url);
  const amounts = page.getByText("149.90 EUR", { exact: true });
  await expect(amounts).toHaveCount(2);
  for (const amount of await amounts.all()) {
    const { width, height } = (await amount.boundingBox()) ?? { width: 0, height: 0 };
    expect(width).toBeGreaterThan(2 * height);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
});

test("A102 labels that look the same are distinguished, and names change no direction", async ({
  page,
  shop,
}) => {
  const customer = `grace-${crypto.randomUUID()}`;
  await shop.register(customer, "Grace\u202e Hopper");
  await opens(page, (await shop.ask(customer, { amount: "1.00 EUR", "amount ": "1000.00 EUR" })).url);
  await expect(page.getByText("Grace‹U+202E› Hopper", { exact: true })).toBeVisible();
  await expect(page.getByRole("alert").filter({ hasText: "cannot be seen" })).toBeVisible();
  const agreement = page.getByRole("region", { name: "What you agree to" });
  await expect(agreement.getByTitle("character U+0020, which cannot be seen")).toBeVisible();
});

test("a tenant under a path has a page of its own", async ({ page, server, authenticator }) => {
  const port = await freePort();
  const hosted = { allowed_redirect_urls: [`http://127.0.0.1:${port}/**`] };
  const tenant = await makeTenant(server, { hosted });
  const shop = await startShop(server, port, tenant);
  await authenticator.take(await shop.register("grace", "Grace Hopper"));
  const { id, url } = await shop.ask("grace", order);
  expect(new URL(url).pathname).toBe(`/t/${tenant}/confirm`);
  await authenticator.willConfirm();
  await opens(page, url);
  expect(new URL(page.url()).pathname).toBe(`/t/${tenant}/confirm`);
  await confirm(page).click();
  await page.waitForURL(`${shop.url}/back?*`);
  const verdict = verifyReceipt(shop.receipts.get(id) ?? "", { jwks: await shop.jwks() });
  expect(verdict).toMatchObject({ ok: true, receipt: { tenantId: tenant, userId: "grace" } });
  await shop.close();
});

test.describe("in German", () => {
  test.use({ locale: "de-DE" });

  test("the page is in German", async ({ page, shop, customer }) => {
    await page.goto((await shop.ask(customer, order)).url);
    await expect(title(page)).toHaveText("Stimmen Sie dem zu?");
    await expect(page.getByRole("button", { name: "Mit Passkey bestätigen" })).toBeVisible();
    await page.getByRole("link", { name: "English" }).click();
    await expect(title(page)).toHaveText("Do you agree to this?");
  });
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the page shows the transaction, and what it requires", async ({ page, shop }) => {
    await shop.register("grace");
    await page.goto((await shop.ask("grace", order)).url);
    await expect(page.getByText("€149.90", { exact: true })).toBeVisible();
    await expect(page.locator("noscript .stile-alert-text")).toHaveText(/^Passkeys need JavaScript\./);
  });
});
