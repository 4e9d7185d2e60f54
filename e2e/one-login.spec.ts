import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, FrameLocator, Page } from "@playwright/test";
import { build } from "esbuild";
import { buildElement, packageStyles } from "../scripts/build-packages.ts";
import { freePort } from "../server/testing/free-port.ts";
import { pseudoTerminal } from "../server/testing/pseudo-terminal.ts";
import { settingsFor } from "./client-pages.ts";
import { test as base, expect } from "./fixtures.ts";
import { press, titles } from "./steps.ts";

/**
 * One person, who signs in by a mailed code, and every way in which an application can show the login. Each ends with a
 * session that the service confirms.
 */

const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");

/** The pages of an application on another origin, by their paths. */
const applicationPages = (stile: string): Record<string, string> => ({
  "/element": `<script type=module src="/files/stile-element.js"></script><stile-login url="${stile}"></stile-login>`,
  "/react": `<link rel=stylesheet href="/files/stile.css"><div id=place></div>
    <script>window.stile = "${stile}"</script><script type=module src="/files/react.js"></script>`,
  "/frame": `<div id=place></div><script src="${stile}/embed.js"></script><script>
    Stile.embed("#place", { codeChallenge: "${challenge}", onSuccess: (result) => { window.result = result; } });
  </script>`,
});

const reactApplication = `
  import { createRoot } from "react-dom/client";
  import { Login } from "./packages/react/src/index.tsx";
  createRoot(document.querySelector("#place")).render(<Login url={window.stile} />);`;

const test = base.extend<object, { application: { url: string; serve(stile: string): void } }>({
  application: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "stile-one-login-"));
      await buildElement(folder);
      const files = {
        bundle: true,
        format: "esm",
        splitting: true,
        jsx: "automatic",
        outdir: folder,
      } as const;
      const stdin = { contents: reactApplication, loader: "tsx", resolveDir: process.cwd() } as const;
      await build({
        ...files,
        stdin,
        entryNames: "react",
        define: { "process.env.NODE_ENV": '"production"' },
      });
      const styles = await packageStyles();
      const pages: Record<string, string> = {};
      const server = createServer(({ url = "/" }, response) => {
        const type = url.endsWith(".js")
          ? "text/javascript"
          : url.endsWith(".css")
            ? "text/css"
            : "text/html";
        response.setHeader("content-type", type);
        if (url.endsWith(".css")) response.end(styles);
        else if (url.startsWith("/files/"))
          response.end(readFileSync(join(folder, url.slice("/files/".length))));
        else
          response.end(`<!doctype html><html lang=en><title>App</title><link rel=icon href=data:,>
            <main>${pages[url] ?? ""}</main>`);
      });
      const port = await freePort();
      await new Promise<void>((listening) => server.listen(port, listening));
      await use({
        url: `http://localhost:${port}`,
        serve: (stile) => Object.assign(pages, applicationPages(stile)),
      });
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ application }, use) =>
      use({ ...settingsFor(application.url), STILE_EMBED_ORIGINS: application.url }),
    { scope: "worker" },
  ],
});

/** What a way to embed is given. */
interface World {
  page: Page;
  stile: string;
  application: string;
  address: string;
  mailedCode(): Promise<string>;
}

/** The person: an address, a code by mail, and no passkey today. */
async function signIn(shown: Page | FrameLocator, { address, mailedCode }: World): Promise<void> {
  const heading = shown.getByRole("heading", { level: 1 });
  const button = (name: string) => shown.getByRole("button", { name });
  await expect(heading).toHaveText(titles.login);
  await shown.getByLabel("Email", { exact: true }).fill(address);
  await press(button("Continue"), () => expect(heading).toHaveText(titles.methods, { timeout: 2000 }));
  await press(button("Get a code by email"), () =>
    expect(heading).toHaveText(titles.code, { timeout: 2000 }),
  );
  await shown.getByLabel("Code", { exact: true }).fill(await mailedCode());
  // Where scripts run, the last digit sends the code.
  const offered = new RegExp(`${titles.createPasskey}|${titles.success}`);
  await press(button("Confirm"), () => expect(heading).toHaveText(offered, { timeout: 5000 }));
  if ((await heading.textContent()) === titles.createPasskey)
    await press(button("Not now"), () => expect(heading).toHaveText(titles.success, { timeout: 5000 }));
}

/** The session that the browser holds as a cookie. */
async function cookieOf(context: BrowserContext, stile: string): Promise<string> {
  const cookies = await context.cookies(stile);
  return cookies.find(({ value }) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value))?.value ?? "";
}

/** Way to embed → a login by it, which returns the session. */
const ways: Record<string, (world: World) => Promise<string>> = {
  async "the hosted page"(world) {
    await world.page.goto(world.stile);
    await signIn(world.page, world);
    return cookieOf(world.page.context(), world.stile);
  },
  async "a frame"(world) {
    await world.page.goto(`${world.application}/frame`);
    await signIn(world.page.frameLocator("iframe"), world);
    const result = () => world.page.evaluate(() => (window as { result?: { code?: string } }).result?.code);
    await expect.poll(result).toMatch(/./);
    const answer = await fetch(`${world.stile}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: await result(), code_verifier: verifier }),
    });
    return ((await answer.json()) as { session_token: string }).session_token;
  },
  async "an element"(world) {
    await world.page.goto(`${world.application}/element`);
    await signIn(world.page, world);
    return cookieOf(world.page.context(), world.stile);
  },
  async "a React component"(world) {
    await world.page.goto(`${world.application}/react`);
    await signIn(world.page, world);
    return cookieOf(world.page.context(), world.stile);
  },
  async "forms without JavaScript"(world) {
    const browser = world.page.context().browser();
    const context = await browser?.newContext({ javaScriptEnabled: false, locale: "en-GB" });
    const page = await context?.newPage();
    if (!context || !page) throw new Error("no browser");
    await page.goto(world.stile);
    await signIn(page, world);
    const session = await cookieOf(context, world.stile);
    await context.close();
    return session;
  },
  async "a terminal"({ stile, address, mailedCode }) {
    const program = join(import.meta.dirname, "../bin/stile.js");
    const words = [process.execPath, program, "login", "--url", stile, "--print-token"];
    const terminal = pseudoTerminal(words, { PATH: process.env.PATH, NODE_ENV: "test", LANG: "C" });
    const shows = (text: string) => expect.poll(() => terminal.output()).toContain(text);
    await shows("Email");
    terminal.type(`${address}\r`);
    await shows("Your choice");
    const lines = [...terminal.output().matchAll(/^ {2}(\d+) {2}(.*?)\r?$/gm)];
    terminal.type(`${lines.findLast(([, , text = ""]) => text.startsWith("Get a code by email"))?.[1]}\r`);
    await shows("Code (empty");
    terminal.type(`${await mailedCode()}\r`);
    expect(await terminal.ended()).toBe(0);
    return /^([\w-]+\.[\w-]+\.[\w-]+)\r?$/m.exec(terminal.output())?.[1] ?? "";
  },
};

for (const [way, login] of Object.entries(ways))
  test(`the same login ends with a session by ${way}`, async ({
    page,
    server,
    application,
    account,
    mailbox,
    authenticator,
    pageErrors,
  }) => {
    await authenticator.willWait();
    // An application asks for the session before there is one.
    pageErrors.expect(/the server responded with a status of 401/);
    application.serve(server.url);
    const asked = mailbox.messages.length;
    const session = await login({
      page,
      stile: server.url,
      application: application.url,
      address: account.address,
      mailedCode: () => mailbox.codeFor(account.address, asked),
    });
    const answer = await fetch(`${server.url}/sessions/validate`, {
      headers: { authorization: `Bearer ${session}` },
    });
    expect(await answer.json()).toMatchObject({ is_valid: true });
  });
