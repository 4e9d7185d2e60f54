import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import AxeBuilder from "@axe-core/playwright";
import type { FrameLocator, Page } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import { virtualAuthenticator } from "../server/testing/kit/virtual-authenticator.ts";
import { signUp } from "./account.ts";
import { blockingCookies } from "./blocked-cookies.ts";
import { expect } from "./fixtures.ts";
import { signInAtAcme, test as withProvider } from "./provider.ts";
import { makeTenant } from "./shop.ts";
import { holdScripts, press } from "./steps.ts";
import { stile as stileCommand } from "./stile.ts";

/** Pages of applications that show the login in a frame. */
interface Host {
  url: string;
  close(): Promise<void>;
}

/** What a page of an application does otherwise than most, in its query. */
interface HostQuery {
  /** Further rules of its style sheet. */
  css?: string;
  /** Script after the frame was made, as `frame`. */
  script?: string;
  /** Options of `Stile.embed` as JSON. */
  options?: string;
}

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = createHash("sha256").update(verifier).digest("base64url");

/**
 * Pages with the loader, of another site than the service: Chromium gives their frames no storage and no cookies but
 * partitioned ones.
 */
async function startHost(stile: () => string, port: number): Promise<Host> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "http://host");
    const text = (name: string) => searchParams.get(name) ?? "";
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><html lang="en">
      <title>App</title><link rel=icon href=data:,><meta name=viewport content="width=device-width">
      <style>${text("css")}</style>
      <h1>Our application</h1><div id="place" style="max-width: 30rem"></div><div id="cover"></div>
      <script src="${stile()}/embed.js"></script>
      <script>
        window.results = []; window.states = []; window.errors = []; window.heights = [];
        const { frame } = Stile.embed("#place", Object.assign({
          codeChallenge: "${challenge}",
          onSuccess: (result) => results.push(result),
          onStateChange: ({ name }) => states.push(name),
          onError: (error) => errors.push(error),
        }, ${text("options") || "{}"}));
        new ResizeObserver(() => heights.push(frame.clientHeight)).observe(frame);
        ${text("script")}
      </script>`);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://app.localhost:${taken}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const listedPort = await freePort();
const listedOrigin = `http://app.localhost:${listedPort}`;

const test = withProvider.extend({
  settings: [
    async ({ settings }, use) => use({ ...settings, STILE_EMBED_ORIGINS: listedOrigin }),
    { scope: "worker" },
  ],
});

let stile = "";
let listed: Host;
let unlisted: Host;

test.beforeAll(async ({ server }) => {
  stile = server.url;
  listed = await startHost(() => stile, listedPort);
  unlisted = await startHost(() => stile, 0);
});
test.afterAll(async () => {
  await listed.close();
  await unlisted.close();
});

const host = (query: HostQuery = {}) => `${listed.url}/?${new URLSearchParams({ ...query })}`;
const frameIn = (page: Page): FrameLocator => page.frameLocator("iframe");
const email = (frame: FrameLocator | Page) => frame.getByLabel("Email", { exact: true });
const button = (frame: FrameLocator | Page, name: string | RegExp) =>
  frame.getByRole("button", { name, exact: typeof name === "string" });

/** What the page was told. */
const told = <Told>(page: Page, kind: "results" | "states" | "errors" | "heights") =>
  page.evaluate((kind) => (window as unknown as Record<string, Told[]>)[kind] ?? [], kind);

/** Redeems the code that the page was given, as the application's server does; returns the user's id. */
async function redeemed(page: Page, base = stile): Promise<string> {
  await expect.poll(() => told(page, "results")).toHaveLength(1);
  const [result] = await told<{ kind: string; code: string; codeVerifier?: string }>(page, "results");
  expect(result).toMatchObject({ kind: "code", code: expect.stringMatching(/^[\w-]{43}$/) });
  const answer = await fetch(`${base}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: result?.code, code_verifier: result?.codeVerifier ?? verifier }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { user_id: string }).user_id;
}

async function enterAddress(frame: FrameLocator, address: string): Promise<void> {
  await email(frame).fill(address);
  const next = button(frame, "Continue");
  await press(next, () => expect(next).toBeHidden({ timeout: 2000 }));
}

test("a frame of another site, whose storage and cookies are blocked, signs in by a mailed code, creates a passkey, and signs in with it", {
  tag: "@next",
}, async ({ page, context, mailbox, account, authenticator }) => {
  await authenticator.willWait();
  await page.goto(host());
  const frame = frameIn(page);
  await email(frame).waitFor();
  // The browser blocks what is not partitioned.
  await expect(email(frame).evaluate(() => sessionStorage.length)).rejects.toThrow("Access is denied");
  const kept = await email(frame).evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the test of cookies
    document.cookie = "plain=1; Secure; SameSite=None";
    return document.cookie;
  });
  expect(kept).not.toContain("plain");
  await enterAddress(frame, account.address);
  const asked = mailbox.messages.length;
  const code = frame.getByLabel("Code", { exact: true });
  await press(button(frame, /Get a code by email/), () => code.click({ timeout: 2000 }));
  await page.keyboard.type(await mailbox.codeFor(account.address, asked));
  await authenticator.willConfirm();
  const create = button(frame, /Create a passkey/);
  await create.waitFor();
  await press(create, () => expect(create).toBeHidden({ timeout: 2000 }));
  const user = await redeemed(page);
  expect(await authenticator.count()).toBe(1);
  expect(await told(page, "states")).toContain("login_method_chooser");
  // A frame that changed its size would ignore the next click.
  expect(await told(page, "heights")).toHaveLength(1);
  const cookies = await context.cookies();
  expect(cookies.map(({ name }) => name)).not.toContain("service");
  expect(cookies).toContainEqual(
    expect.objectContaining({ name: expect.stringMatching(/^stile-frame-login-/), sameSite: "None" }),
  );

  // The passkey is completed in the field, without a click.
  await page.reload();
  expect(await redeemed(page)).toBe(user);
});

test("A100 a page that is not on the list shows no frame, and is told", async ({ page, pageErrors }) => {
  pageErrors.expect(/frame-ancestors|Framing/);
  await page.clock.install();
  await page.goto(unlisted.url);
  await expect(page.getByRole("heading", { name: "Our application" })).toBeVisible();
  await expect.poll(() => page.frames().length).toBe(2);
  expect(page.frames().some((each) => each.url().startsWith(stile))).toBe(false);
  await expect(async () => {
    await page.clock.fastForward(20_000);
    expect(await told(page, "errors")).toMatchObject([{ code: "connection_missing" }]);
  }).toPass();
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
  await page.goto(host());
  await expect(email(frameIn(page))).toBeVisible();
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
  await expect.poll(() => told(page, "states")).toContain("login_method_chooser");
  expect(await told(page, "results")).toEqual([]);
});

for (const [guise, css, reason] of [
  [
    "under an overlay",
    "#cover { position: fixed; inset: 0; background: #fff; pointer-events: none }",
    "Something lies over this form",
  ],
  ["that is transparent", "iframe { opacity: 0.05 }", "Something lies over this form"],
  [
    "that is too small",
    "iframe { width: 150px !important; height: 300px !important }",
    "This form is too small",
  ],
] as const)
  test(`A100 a frame ${guise} ignores clicks, says why, and keeps what was typed`, async ({ page }) => {
    await page.goto(host({ css }));
    const frame = frameIn(page);
    const address = `${crypto.randomUUID()}@example.com`;
    await email(frame).fill(address);
    await expect
      .poll(async () => {
        await button(frame, "Continue").click({ force: true });
        return frame.getByText(reason).isVisible();
      })
      .toBe(true);
    await expect(email(frame)).toHaveValue(address);
  });

test("a frame that is clicked before its scripts arrive works when they are there", async ({
  page,
  account,
}) => {
  const release = await holdScripts(page);
  await page.goto(host(), { waitUntil: "commit" });
  const frame = frameIn(page);
  await expect(email(frame)).toBeVisible();
  const { x, y, width, height } = (await button(frame, "Continue").boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  await page.mouse.click(x + width / 2, y + height / 2);
  release();
  await email(frame).fill(account.address);
  await press(button(frame, "Continue"), () =>
    expect(button(frame, /Enter your password/)).toBeVisible({ timeout: 2000 }),
  );
});

const byPassword = /Enter your password/;
const passwordIn = (frame: FrameLocator) => frame.getByLabel("Password", { exact: true });

/** Goes on from the password to the result. */
async function finishByPassword(page: Page, password: string): Promise<void> {
  const frame = frameIn(page);
  await passwordIn(frame).fill(password);
  const decline = button(frame, "Not now");
  await press(button(frame, "Sign in"), () => expect(decline).toBeVisible({ timeout: 2000 }));
  await press(decline, () => expect(decline).toBeHidden({ timeout: 2000 }));
  await redeemed(page);
}

test("the back button leaves the page of a frame at once, and the way forward leads to the step that it showed", async ({
  page,
  account,
}) => {
  const before = `${stile}/health/ready`;
  await page.goto(before);
  await page.goto(host());
  const frame = frameIn(page);
  await enterAddress(frame, account.address);
  await press(button(frame, byPassword), () => expect(passwordIn(frame)).toBeVisible({ timeout: 2000 }));
  await page.goBack();
  expect(page.url()).toBe(before);
  await page.goForward();
  await finishByPassword(page, account.password);
});

test("the frame in a second tab shows the same step, and that in the first is brought up to date", async ({
  page,
  context,
  account,
}) => {
  await page.goto(host());
  await enterAddress(frameIn(page), account.address);
  await expect(button(frameIn(page), byPassword)).toBeVisible();
  const second = await context.newPage();
  await second.goto(host());
  const later = frameIn(second);
  await press(button(later, byPassword), () => expect(passwordIn(later)).toBeVisible({ timeout: 2000 }));

  // The first tab still shows the choice, which the flow no longer offers.
  await page.bringToFront();
  const updated = frameIn(page).getByText("You went on elsewhere, so we brought this page up to date.");
  await press(button(frameIn(page), /Get a code by email/), () =>
    expect(updated).toBeVisible({ timeout: 2000 }),
  );
  await finishByPassword(page, account.password);
});

test("a browser that keeps no cookies at all in frames signs in through a window", async ({ account }) => {
  // Those of every page, while the application is in the address bar.
  await blockingCookies(test.info(), `*,${listed.url}`, async (context) => {
    const page = await context.newPage();
    await page.goto(host());
    const opening = context.waitForEvent("page");
    await press(button(frameIn(page), "Continue in a window"), () =>
      expect(button(frameIn(page), "Show the window")).toBeVisible({ timeout: 2000 }),
    );
    const child = await opening;
    await email(child).fill(account.address);
    await button(child, "Continue").click();
    await button(child, /Enter your password/).click();
    await child.getByLabel("Password", { exact: true }).fill(account.password);
    await button(child, "Sign in").click();
    await button(child, "Not now").click();
    await redeemed(page);
    expect(child.isClosed()).toBe(true);
  });
});

test("a passkey that the page does not let the frame create is created in a window, and the flow comes back, with a challenge of the loader", async ({
  page,
  context,
  account,
}) => {
  await page.goto(
    host({ options: "{ codeChallenge: true }", script: 'frame.allow = "publickey-credentials-get";' }),
  );
  const frame = frameIn(page);
  await enterAddress(frame, account.address);
  const password = frame.getByLabel("Password", { exact: true });
  await press(button(frame, /Enter your password/), () => password.fill(account.password, { timeout: 2000 }));
  const create = button(frame, /Create a passkey/);
  await press(button(frame, "Sign in"), () => expect(create).toBeVisible({ timeout: 5000 }));
  const opening = context.waitForEvent("page");
  await press(create, () => expect(create).toBeHidden({ timeout: 2000 }));
  const child = await opening;
  await (await virtualAuthenticator(context, child)).willConfirm();
  await redeemed(page);
  const [result] = await told<{ codeVerifier: string }>(page, "results");
  expect(result?.codeVerifier).toMatch(/^[\w-]{43}$/);
});

test("a sign-in at an identity provider is made in a window, and ends in the frame", async ({
  page,
  context,
  acme,
  address,
}) => {
  acme.person(address, { email: address, email_verified: true, name: "Ada" });
  await page.goto(host());
  const frame = frameIn(page);
  const waiting = frame.getByText("Please continue in the window");
  const opening = context.waitForEvent("page");
  await press(button(frame, "Continue with Acme"), () => expect(waiting).toBeVisible({ timeout: 2000 }));
  const child = await opening;
  await signInAtAcme(child, address);
  await redeemed(page);
  expect(child.isClosed()).toBe(true);
  expect(await context.cookies()).not.toContainEqual(expect.objectContaining({ name: "service" }));
});

test("a window that the user closes leaves the frame as it was", async ({ page, context, account }) => {
  await page.goto(host());
  const frame = frameIn(page);
  await email(frame).fill(account.address);
  const opening = context.waitForEvent("page");
  await press(button(frame, "Continue with Acme"), () =>
    expect(frame.getByText("Please continue in the window")).toBeVisible({ timeout: 2000 }),
  );
  const child = await opening;
  await expect(child.getByRole("heading", { name: "Acme" })).toBeVisible();
  await press(button(frame, "Cancel"), () => expect(email(frame)).toBeVisible({ timeout: 2000 }));
  await expect(email(frame)).toHaveValue(account.address);
  await expect(frame.locator(".stile-alert")).toHaveCount(0);
  await enterAddress(frame, account.address);
  await expect(button(frame, /Enter your password/)).toBeVisible();
});

test("a tenant under a path has a frame with its theme, which keyboard and assistive software can use", {
  tag: "@next",
}, async ({ page, server, mailbox, address }) => {
  const id = await makeTenant(server, {
    embed: { origins: [listed.url] },
    theme: { light: { surface: "#f4f0ff", accent: "#5b21b6" }, radius: 0, font: "mono" },
    email: { require_verification: false },
  });
  const base = `${stile}/t/${id}`;
  const account = await signUp(base, mailbox, address);
  await page.goto(
    host({ options: JSON.stringify({ url: base, theme: "light" }), css: "h1 { outline: none }" }),
  );
  const frame = frameIn(page);
  await email(frame).waitFor();
  await expect(frame.locator(".stile-frame")).toHaveCSS("background-color", "rgb(244, 240, 255)");
  await expect(button(frame, "Continue")).toHaveCSS("background-color", "rgb(91, 33, 182)");
  await expect(button(frame, "Continue")).toHaveCSS("font-family", /mono/);
  await expect(frame.locator(":root")).toHaveCSS("color-scheme", "light");
  const violations = async () =>
    (await new AxeBuilder({ page }).include("iframe").analyze()).violations.map(({ id }) => id);
  expect(await violations()).toEqual([]);
  // The frame has not taken the focus; the keyboard leads into it.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
  await page.keyboard.press("Tab");
  await expect(email(frame)).toBeFocused();
  await page.keyboard.type(account.address);
  await page.keyboard.press("Enter");
  const method = button(frame, /Enter your password/);
  await method.waitFor();
  expect(await violations()).toEqual([]);
  await method.focus();
  await page.keyboard.press("Enter");
  await expect(frame.getByLabel("Password", { exact: true })).toBeFocused();
  await page.keyboard.type(account.password);
  await page.keyboard.press("Enter");
  await button(frame, "Not now").focus();
  await page.keyboard.press("Enter");
  await redeemed(page, base);
});

test("a tenant under a host has a frame there, and a registration opens in the frame", async ({
  page,
  server,
}) => {
  const name = `login-${crypto.randomUUID()}.localhost`;
  const settings = JSON.stringify({ embed: { origins: [listed.url] } });
  await stileCommand(
    server,
    ["tenants", "create", "--name", "Acme", "--host", name, "--config", "-"],
    settings,
  );
  const login = `http://${name}:${new URL(stile).port}`;
  await page.goto(host({ options: JSON.stringify({ url: login }) }));
  await frameIn(page).getByRole("link", { name: "Create an account" }).click();
  await expect(frameIn(page).getByRole("heading", { name: "Create your account" })).toBeVisible();
});
