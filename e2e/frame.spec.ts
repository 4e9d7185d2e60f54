import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FrameLocator, Locator, Page } from "@playwright/test";
import { virtualAuthenticator } from "../server/testing/kit/virtual-authenticator.ts";
import { freePort } from "../server/testing/server.ts";
import { test as base, expect } from "./fixtures.ts";

/** Pages of applications that show the login in a frame. */
interface Host {
  url: string;
  close(): Promise<void>;
}

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = createHash("sha256").update(verifier).digest("base64url");

/** A page with the loader, on a port of its own; `/covered` lays something over the frame. */
async function startHost(stile: () => string, port: number): Promise<Host> {
  const server = createServer((request, response) => {
    const covered = request.url === "/covered";
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>App</title>
      <style>#cover { position: fixed; inset: 0; z-index: 2; background: #fff; pointer-events: none; }</style>
      <h1>Our application</h1><div id="place" style="max-width: 30rem"></div>
      ${covered ? '<div id="cover">Win a prize</div>' : ""}
      <script src="${stile()}/embed.js"></script>
      <script>
        window.results = []; window.states = []; window.errors = [];
        window.embedded = Stile.embed("#place", {
          codeChallenge: "${challenge}",
          onSuccess: (result) => results.push(result),
          onStateChange: ({ name }) => states.push(name),
          onError: (error) => errors.push(error),
        });
      </script>`);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${taken}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The port of the page that is listed in the settings of the server. */
const test = base.extend<object, { listedPort: number }>({
  listedPort: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => use(await freePort()),
    { scope: "worker" },
  ],
  settings: [
    async ({ listedPort }, use) => use({ STILE_EMBED_ORIGINS: `http://localhost:${listedPort}` }),
    { scope: "worker" },
  ],
});

let stile = "";
let listed: Host;
let unlisted: Host;

test.beforeAll(async ({ server, listedPort }) => {
  stile = server.url;
  listed = await startHost(() => stile, listedPort);
  unlisted = await startHost(() => stile, 0);
});
test.afterAll(async () => {
  await listed.close();
  await unlisted.close();
});

const frameIn = (page: Page): FrameLocator => page.frameLocator("iframe");
const results = (page: Page) => page.evaluate(() => (window as unknown as { results: object[] }).results);

/** Redeems the code that the page was given, as the application's server does. */
async function redeemed(page: Page): Promise<string> {
  await expect.poll(() => results(page)).toHaveLength(1);
  const [result] = (await results(page)) as { kind: string; code: string }[];
  expect(result).toEqual({ kind: "code", code: expect.stringMatching(/^[\w-]{43}$/) });
  const answer = await fetch(`${stile}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: result?.code, code_verifier: verifier }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { user_id: string }).user_id;
}

/**
 * Clicks until the click has an effect: Chromium drops clicks into a frame of another origin that moved or changed its
 * size within the last half second.
 */
async function press(button: Locator, effect: () => Promise<unknown>): Promise<void> {
  await expect(async () => {
    if (await button.isVisible()) await button.click();
    await effect();
  }).toPass();
}

async function enterAddress(frame: FrameLocator, address: string): Promise<void> {
  await frame.getByLabel("Email", { exact: true }).fill(address);
  const button = frame.getByRole("button", { name: "Continue", exact: true });
  await press(button, () => expect(button).toBeHidden({ timeout: 2000 }));
}

test("a frame of a listed page signs in by a mailed code, creates a passkey, and signs in with it", async ({
  page,
  context,
  mailbox,
  account,
  authenticator,
}) => {
  await authenticator.willWait();
  await page.goto(listed.url);
  const frame = frameIn(page);
  await enterAddress(frame, account.address);
  const asked = Date.now() - 1;
  const code = frame.getByLabel("Code", { exact: true });
  await press(frame.getByRole("button", { name: /Get a code by email/ }), () =>
    code.click({ timeout: 2000 }),
  );
  await page.keyboard.type(await mailbox.codeFor(account.address, asked));
  await authenticator.willConfirm();
  const create = frame.getByRole("button", { name: /Create a passkey/ });
  await create.waitFor();
  await press(create, () => expect(create).toBeHidden({ timeout: 2000 }));
  const user = await redeemed(page);
  expect(await authenticator.count()).toBe(1);
  const cookies = await context.cookies();
  expect(cookies.map(({ name }) => name)).not.toContain("service");

  // The passkey is completed in the field, without a click.
  await page.reload();
  expect(await redeemed(page)).toBe(user);
});

test("A100 a page that is not on the list shows no frame", async ({ page, pageErrors }) => {
  pageErrors.expect(/frame-ancestors|Framing/);
  await page.goto(unlisted.url);
  await expect(page.getByRole("heading", { name: "Our application" })).toBeVisible();
  const loaded = () => page.frames().some((each) => each.url().startsWith(stile));
  await expect.poll(() => page.frames().length).toBe(2);
  expect(loaded()).toBe(false);
  const answer = await fetch(`${stile}/embed?origin=${encodeURIComponent(unlisted.url)}`);
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
});

test("A101 the frame's page names its one embedder in its headers", async () => {
  const answer = await fetch(
    `${stile}/embed?origin=${encodeURIComponent(listed.url)}&code_challenge=${challenge}`,
  );
  expect(answer.headers.get("content-security-policy")).toContain(`frame-ancestors ${listed.url};`);
  expect(answer.headers.get("x-frame-options")).toBeNull();
  expect(answer.headers.get("permissions-policy")).toContain(
    `publickey-credentials-get=(self "${listed.url}"), publickey-credentials-create=(self "${listed.url}")`,
  );
  for (const path of ["/", "/account"]) {
    const page = await fetch(`${stile}${path}?origin=${encodeURIComponent(listed.url)}`);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
  }
});

test("A103 forged messages are ignored, by the page and by the frame", async ({ page }) => {
  await page.goto(listed.url);
  await expect(frameIn(page).getByLabel("Email", { exact: true })).toBeVisible();
  await page.evaluate((target) => {
    const forged = { type: "stile:success", result: { kind: "code", code: "forged" } };
    window.postMessage(forged, "*");
    const frame = document.querySelector("iframe")?.contentWindow;
    for (const type of ["stile:window-success", "stile:window-back", "stile:continue"])
      frame?.postMessage(
        { type, token: "forged", answer: { version: 9, state: { name: "success" } } },
        target,
      );
  }, stile);
  // A message of the frame itself arrives after them.
  await enterAddress(frameIn(page), `${crypto.randomUUID()}@example.com`);
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { states: string[] }).states))
    .toContain("login_method_chooser");
  expect(await results(page)).toEqual([]);
});

test("A100 a frame under an overlay ignores clicks, and says why", async ({ page }) => {
  await page.goto(`${listed.url}/covered`);
  const frame = frameIn(page);
  const field = frame.getByLabel("Email", { exact: true });
  await field.fill(`${crypto.randomUUID()}@example.com`);
  const reason = frame.getByText("Something lies over this form");
  await expect
    .poll(async () => {
      await frame.getByRole("button", { name: "Continue", exact: true }).click({ force: true });
      return reason.isVisible();
    })
    .toBe(true);
  await expect(field).toBeVisible();
});

test("a browser that keeps no cookies in frames signs in through a window", async ({
  page,
  context,
  account,
}) => {
  await context.addInitScript(() => {
    if (window.parent === window) return;
    Object.defineProperty(Document.prototype, "cookie", { get: () => "", set: () => {} });
  });
  await page.goto(listed.url);
  const opening = context.waitForEvent("page");
  const shown = frameIn(page).getByRole("button", { name: "Show the window" });
  await press(frameIn(page).getByRole("button", { name: "Continue in a window" }), () =>
    expect(shown).toBeVisible({ timeout: 2000 }),
  );
  const child = await opening;
  await child.getByLabel("Email", { exact: true }).fill(account.address);
  await child.getByRole("button", { name: "Continue", exact: true }).click();
  await child.getByRole("button", { name: /Enter your password/ }).click();
  await child.getByLabel("Password", { exact: true }).fill(account.password);
  await child.getByRole("button", { name: "Sign in", exact: true }).click();
  await child.getByRole("button", { name: "Not now" }).click();
  await redeemed(page);
  expect(child.isClosed()).toBe(true);
});

test("a passkey that the frame may not create is created in a window, and the flow comes back", async ({
  page,
  context,
  account,
}) => {
  await context.addInitScript(() => {
    if (window.parent === window) return;
    const policy = { allowsFeature: (feature: string) => feature !== "publickey-credentials-create" };
    Object.defineProperty(Document.prototype, "featurePolicy", { get: () => policy });
  });
  await page.goto(listed.url);
  const frame = frameIn(page);
  await enterAddress(frame, account.address);
  const password = frame.getByLabel("Password", { exact: true });
  await press(frame.getByRole("button", { name: /Enter your password/ }), () =>
    password.fill(account.password, { timeout: 2000 }),
  );
  const create = frame.getByRole("button", { name: /Create a passkey/ });
  await press(frame.getByRole("button", { name: "Sign in", exact: true }), () =>
    expect(create).toBeVisible({ timeout: 5000 }),
  );
  const opening = context.waitForEvent("page");
  await press(create, () => expect(create).toBeHidden({ timeout: 2000 }));
  const child = await opening;
  await (await virtualAuthenticator(context, child)).willConfirm();
  await redeemed(page);
});
