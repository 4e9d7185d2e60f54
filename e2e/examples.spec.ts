import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, FrameLocator, Locator, Page } from "@playwright/test";
import { commandsOf, runCommands } from "../examples/guide-commands.ts";
import { freePort } from "../server/testing/free-port.ts";
import type { Account } from "./account.ts";
import { test as base, expect } from "./fixtures.ts";

/** The applications of the guides, built as their commands say, with the settings of their commands. */

const root = join(import.meta.dirname, "..");
const names = ["html", "spa", "frame", "mobile", "next", "trpc"] as const;
type Name = (typeof names)[number];

/** A page of another site than Stile, with an address; the others share its host. */
const host: Record<Name, string> = {
  html: "localhost",
  spa: "127.0.0.1",
  frame: "localhost",
  mobile: "127.0.0.1",
  next: "localhost",
  trpc: "127.0.0.1",
};

interface Examples {
  folder: string;
  urls: Record<Name, string>;
  /** Where the app of the mobile example listens. */
  appPort: string;
}

interface Running {
  url: string;
  output(): string;
}

type Engine = "chromium" | "firefox";

interface OfTest {
  engine: Engine;
  /** Starts the server of an example, once. */
  start(name: Name): Promise<Running>;
}

interface OfWorker {
  examples: Examples;
  processes: Map<Name, Running & { child: ChildProcess }>;
  firefox: Browser;
}

const systemFirefox = existsSync("/usr/bin/firefox-esr");

const test = base.extend<OfTest, OfWorker>({
  engine: ["chromium", { option: true }],

  firefox: [
    async ({ playwright }, use) => {
      const options = { channel: "moz-firefox", executablePath: join(import.meta.dirname, "firefox.js") };
      const browser = await playwright.firefox.launch(systemFirefox ? options : {});
      await use(browser);
      await browser.close();
    },
    { scope: "worker" },
  ],

  context: async ({ engine, browser, firefox }, use) => {
    const context = await (engine === "firefox" ? firefox : browser).newContext({ locale: "en-GB" });
    await use(context);
    await context.close();
  },

  examples: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "stile-guides-")));
      const folders = { packages: join(folder, "packages"), applications: folder };
      const urls = {} as Record<Name, string>;
      // All guides begin with the same commands, in the folder of Stile.
      await runCommands(commandsOf("html").stile, folders);
      for (const name of names) {
        const { stile, application } = commandsOf(name);
        expect(stile).toEqual(commandsOf("html").stile);
        await runCommands(application, folders);
        urls[name] = `http://${host[name]}:${await freePort()}`;
      }
      // The packages are links, which Turbopack follows below its root alone.
      writeFileSync(
        join(folder, "shop-next", "next.config.js"),
        'export default { turbopack: { root: "/" }, devIndicators: false };\n',
      );
      await use({ folder, urls, appPort: String(await freePort()) });
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 300_000 },
  ],

  settings: [async ({ examples }, use) => use(settingsOfGuides(examples)), { scope: "worker" }],

  processes: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const processes = new Map();
      await use(processes);
      for (const { child } of processes.values()) {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      }
    },
    { scope: "worker" },
  ],

  start: async ({ examples, processes, server }, use) => {
    await use(async (name) => {
      const known = processes.get(name);
      if (known) return known;
      const url = examples.urls[name];
      const folder = join(examples.folder, `shop-${name}`);
      // The one address in a page: a developer writes that of Stile there.
      const page = join(folder, "public", "index.html");
      if (name === "frame")
        writeFileSync(page, readFileSync(page, "utf8").replace("http://localhost:3000", server.url));
      const next = join(root, "node_modules", "next", "dist", "bin", "next");
      const { port } = new URL(url);
      const parameters = name === "next" ? [next, "dev", "--port", port] : ["server.js"];
      const started = run(folder, parameters, {
        STILE_URL: server.url,
        APP_URL: url,
        PORT: port,
        NEXT_TELEMETRY_DISABLED: "1",
        APP_LINK: `http://127.0.0.1:${examples.appPort}/signed-in`,
      });
      const running = { ...started, url };
      processes.set(name, running);
      // Its first page may have to be compiled.
      await expect
        .poll(() => fetch(url).then(({ status }) => status, started.output), { timeout: 240_000 })
        .toBe(name === "mobile" ? 404 : 200);
      return running;
    });
  },
});

function run(cwd: string, parameters: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, parameters, {
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
    env: { NODE_ENV: "development", PATH: process.env.PATH ?? "", ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  return { child, output: () => output };
}

/** The settings in the commands of all guides, with the addresses of this run. */
function settingsOfGuides({ urls }: Examples): Record<string, string> {
  const settings: Record<string, string[]> = {};
  for (const name of names) {
    const guide = readFileSync(join(root, "examples", name, "README.md"), "utf8");
    for (const [, setting = "", value = ""] of guide.matchAll(/^(STILE_\w+)=(\S+)/gm))
      settings[setting] = [
        ...(settings[setting] ?? []),
        ...value.split(",").map((each) => each.replace("http://localhost:4000", urls[name])),
      ];
  }
  return Object.fromEntries(
    // The address of Stile itself is that of the run, and the relying party's host is that of both.
    Object.entries(settings).map(([setting, values]) => [
      setting,
      values.filter((value) => value !== "http://localhost:3000").join(","),
    ]),
  );
}

/** Presses a button until it has an effect: Chromium drops clicks into a frame that has just moved. */
async function press(button: Locator, effect: Locator): Promise<void> {
  await expect(async () => {
    if (!(await effect.isVisible())) await button.click({ timeout: 2000 });
    await expect(effect).toBeVisible({ timeout: 2000 });
  }).toPass();
}

const buttonIn = (scope: Page | FrameLocator, name: string | RegExp) =>
  scope.getByRole("button", { name, exact: typeof name === "string" });

/** Signs in with a password, and declines the passkey that is offered. */
async function signIn(scope: Page | FrameLocator, account: Account, effect: Locator): Promise<void> {
  await scope.getByLabel("Email", { exact: true }).fill(account.address);
  const byPassword = buttonIn(scope, /Enter your password/);
  await press(buttonIn(scope, "Continue"), byPassword);
  const password = scope.getByLabel("Password", { exact: true });
  await press(byPassword, password);
  await password.fill(account.password);
  const notNow = buttonIn(scope, "Not now");
  await press(buttonIn(scope, "Sign in"), notNow);
  await press(notNow, effect);
}

const signedInAs = (page: Page, { address }: Account) => page.getByText(`Signed in as ${address}`);

/** The session that a page's browser holds, ended for certain. */
async function expectEnded(url: string, cookie: string): Promise<void> {
  const answer = await fetch(`${url}/api/me`, { headers: { cookie } });
  expect(answer.status).toBe(401);
}

for (const engine of ["chromium", "firefox"] as const)
  test.describe(engine, () => {
    test.use({ engine });

    for (const name of ["html", "spa", "frame"] as const)
      test(`${name}: signs in by a code, keeps the session from scripts, and signs out`, async ({
        page,
        context,
        pageErrors,
        account,
        start,
      }) => {
        pageErrors.expect(/status of 401/);
        const { url } = await start(name);
        await page.goto(url);
        const scope = name === "frame" ? page.frameLocator("iframe") : page;
        await signIn(scope, account, signedInAs(page, account));
        await page.reload();
        await expect(signedInAs(page, account)).toBeVisible();

        const seen = await page.evaluate(() => [
          document.cookie,
          localStorage.length + sessionStorage.length,
        ]);
        expect(seen).toEqual(["", 0]);
        // Stile's own cookies are those of the host too.
        const cookies = (await context.cookies(url)).filter(({ name }) => !name.startsWith("stile-"));
        expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
          ["session", true, "Lax"],
        ]);

        await page.getByRole("button", { name: "Sign out" }).click();
        await expect(scope.getByLabel("Email", { exact: true })).toBeVisible();
        await expectEnded(url, `session=${cookies[0]?.value}`);
      });

    test("trpc: signs in by a code on a page that draws the states itself", async ({
      page,
      pageErrors,
      account,
      start,
    }) => {
      pageErrors.expect(/status of 401/);
      const { url } = await start("trpc");
      await page.goto(url);
      await page.getByLabel("email").fill(account.address);
      await page.getByRole("button", { name: /Identify the user/ }).click();
      await page.getByRole("button", { name: "Sign in with a password" }).click();
      await page.getByLabel("password").fill("not the password at all");
      await page.getByRole("button", { name: "Sign in with a password" }).click();
      await expect(page.getByRole("status")).not.toBeEmpty();
      await page.getByLabel("password").fill(account.password);
      await page.getByRole("button", { name: "Sign in with a password" }).click();
      await expect(signedInAs(page, account)).toBeVisible();
      expect(
        await page.evaluate(() => [document.cookie, localStorage.length + sessionStorage.length]),
      ).toEqual(["", 0]);
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page.getByLabel("email")).toBeVisible();
    });

    test("next: the proxy leads to the hosted page and back, and a server action signs out", async ({
      page,
      context,
      pageErrors,
      account,
      start,
    }) => {
      pageErrors.expect(/favicon\.ico/);
      const { url } = await start("next");
      await page.goto(url);
      await page.getByRole("link", { name: "Your account" }).click();
      await signIn(page, account, signedInAs(page, account));
      expect(page.url()).toBe(`${url}/account`);
      const [cookie] = (await context.cookies(url)).filter(({ name }) => name === "service");
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page.getByRole("heading", { name: "Welcome" })).toBeVisible();
      expect((await context.cookies(url)).map(({ name }) => name)).not.toContain("service");

      // The token is still genuine: the proxy lets it pass, and the page asks Stile.
      const options = { headers: { cookie: `service=${cookie?.value}` }, redirect: "manual" } as const;
      const answer = await fetch(`${url}/account`, options);
      expect(answer.headers.get("location") ?? (await answer.text())).toContain("/login?redirect_to=");
    });

    test("next: the component on a page of the application signs in", async ({
      page,
      pageErrors,
      account,
      start,
    }) => {
      pageErrors.expect(/status of 401|favicon\.ico/);
      const { url } = await start("next");
      await page.goto(`${url}/sign-in`);
      await signIn(page, account, signedInAs(page, account));
      expect(page.url()).toBe(`${url}/account`);
    });

    test("mobile: the browser leads back to the app, whose back end keeps the session", async ({
      page,
      pageErrors,
      account,
      examples,
      server,
      start,
    }) => {
      pageErrors.expect(/favicon\.ico/);
      const { url } = await start("mobile");
      const app = run(join(examples.folder, "shop-mobile"), ["app.js", "browser"], {
        STILE_URL: server.url,
        BACK_END: url,
        APP_PORT: examples.appPort,
      });
      await expect.poll(app.output).toMatch(/http:\S+\s/);
      const [address = ""] = /http:\S+/.exec(app.output()) ?? [];
      await page.goto(address);
      await signIn(page, account, page.getByText("You can go back to the app."));
      await once(app.child, "exit");
      expect(app.output()).toContain(`email: '${account.address}'`);
      expect(app.output()).toContain("Signed out.");
    });
  });
