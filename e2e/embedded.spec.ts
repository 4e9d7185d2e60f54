import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { FrameLocator, Page } from "@playwright/test";
import { build } from "esbuild";
import { buildElement, buildReact } from "../scripts/build-packages.ts";
import { freePort } from "../server/testing/free-port.ts";
import { type Account, signUp } from "./account.ts";
import { settingsFor } from "./client-pages.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  declinePasskey,
  emailField,
  enterCode,
  enterPassword,
  expectPage,
  press,
  titles,
  withoutAutofill,
} from "./steps.ts";

const require = createRequire(import.meta.url);

/** The ways to embed → the application's page and how it is made. */
const ways = ["element", "react-19", "react-18"] as const;

type Way = (typeof ways)[number] | "loader";

/** What opens behind a button of the application where the browser has nothing at hand. */
type Otherwise = "component" | "frame" | "page";

const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");

/** The page of a React application: rendered by its server, and taken over by the browser. */
const reactPage = `
  import { Login, useSignIn } from "@stile-auth/react";
  function OwnButton(options) {
    const { signIn, login, busy } = useSignIn(options);
    return login ?? <button onClick={signIn} disabled={busy}>Enter</button>;
  }
  export const page = (url, report = () => {}, ownButton = false, given = {}) => {
    const options = {
      ...{ url, ...given },
      onSuccess: (detail) => report("stile-success", detail),
      onStateChange: (detail) => report("stile-statechange", detail),
      onError: (detail) => report("stile-error", detail),
    };
    return ownButton ? <OwnButton {...options} /> : <Login {...options} />;
  };`;

const reactServer = `${reactPage}
  import { renderToString } from "react-dom/server";
  export const render = (url, ownButton) => renderToString(page(url, undefined, ownButton));`;

const reactApplication = `${reactPage}
  import { hydrateRoot } from "react-dom/client";
  const onRecoverableError = (error) => console.error("the page of the server differs", error);
  hydrateRoot(document.querySelector("main"), page(window.api, window.report, window.options.ownButton, window.options.signIn), { onRecoverableError });`;

const elementApplication = `
  const element = document.createElement("stile-login");
  for (const name of ["stile-success", "stile-statechange", "stile-error"])
    element.addEventListener(name, ({ detail }) => window.report(name, detail));
  element.setAttribute("url", window.api);
  if (window.options.codeChallenge) element.setAttribute("code-challenge", "");
  if (window.options.ownButton) {
    element.setAttribute("on-demand", "");
    const { otherwise, codeChallenge, redirectTo, state } = window.options.signIn;
    const attributes = { otherwise, "code-challenge": codeChallenge, "redirect-to": redirectTo, state };
    for (const [name, value] of Object.entries(attributes)) if (value) element.setAttribute(name, value);
    const button = document.createElement("button");
    button.textContent = "Enter";
    button.onclick = () => element.signIn();
    document.querySelector("main").append(button);
  }
  document.querySelector("main").append(element);`;

const loaderApplication = `
  const button = document.createElement("button");
  button.textContent = "Enter";
  button.onclick = () => Stile.signIn({
    ...{ ...window.options.signIn, place: "#place" },
    onSuccess: (detail) => window.report("stile-success", detail),
    onError: (detail) => window.report("stile-error", detail),
  });
  document.querySelector("main").before(button);`;

/** @param drawn what the application's server has rendered */
const html = (
  way: Way,
  drawn: string,
  api: string | null,
) => `<!doctype html><html lang="en"><title>App</title><link rel=icon href=data:,>
  ${way === "element" || way === "loader" ? "" : '<link rel=stylesheet href="/react/stile.css">'}
  <style>button { background: magenta; padding: 40px } input { border: 9px solid lime }</style>
  <body><main id=place>${drawn}</main><script>
    window.reported = [];
    window.report = (name, detail) => {
      window.reported.push([name, detail]);
      if (name === "stile-success") document.title = "signed in";
    };
    const query = new URLSearchParams(location.search);
    window.api = query.get("api");
    window.options = { codeChallenge: query.has("code") || undefined, ownButton: query.has("button") };
    window.options.signIn = JSON.parse(query.get("sign-in") ?? "{}");
  </script>
  ${
    way === "loader"
      ? `<script src="${api}/embed.js"></script><script>${loaderApplication}</script>`
      : way === "element"
        ? `<script type=module src="/element/stile-element.js"></script><script type=module>${elementApplication}</script>`
        : `<script type=module src="/${way}/application.js"></script>`
  }`;

interface OfTest {
  open(way: Way, options?: { code?: boolean; ownButton?: boolean; otherwise?: Otherwise }): Promise<void>;
}

// The packages as they are published, in pages of an application on another origin.
const test = base.extend<OfTest, { origin: string }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "stile-embedded-"));
      await buildElement(join(folder, "element"));
      await buildReact(join(folder, "react"));
      for (const [way, react, dom] of [
        ["react-19", "react", "react-dom"],
        ["react-18", "react-18", "react-dom-18"],
      ] as const)
        for (const [entryNames, contents, platform] of [
          ["application", reactApplication, "browser"],
          ["server", reactServer, "node"],
        ] as const)
          await build({
            stdin: { contents, loader: "jsx", resolveDir: process.cwd() },
            bundle: true,
            splitting: platform === "browser",
            jsx: "automatic",
            platform,
            entryNames,
            ...(platform === "browser"
              ? { format: "esm" }
              : { format: "cjs", outExtension: { ".js": ".cjs" } }),
            outdir: join(folder, way),
            alias: { "@stile-auth/react": join(folder, "react", "index.js"), react, "react-dom": dom },
            // The words of React's warnings are in its development build alone.
            define: { "process.env.NODE_ENV": '"development"' },
            nodePaths: [join(process.cwd(), "node_modules")],
            logLevel: "error",
          });
      const application = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
        const type = { ".js": "text/javascript", ".css": "text/css" }[extname(pathname)];
        response.setHeader("content-type", type ?? "text/html");
        if (type) {
          response.end(readFileSync(join(folder, pathname)));
          return;
        }
        const way = pathname.slice(1) as Way;
        if (pathname === "/back") {
          response.end("<!doctype html><html lang=en><title>Back</title><link rel=icon href=data:,>");
          return;
        }
        const drawn =
          way === "element" || way === "loader"
            ? ""
            : require(join(folder, way, "server.cjs")).render(
                searchParams.get("api"),
                searchParams.has("button"),
              );
        response.end(html(way, drawn, searchParams.get("api")));
      });
      const port = await freePort();
      await new Promise<void>((listening) => application.listen(port, listening));
      await use(`http://localhost:${port}`);
      application.closeAllConnections();
      await new Promise((closed) => application.close(closed));
      rmSync(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  settings: [
    async ({ settings, origin }, use) =>
      use({
        ...settings,
        ...settingsFor(origin),
        STILE_EMBED_ORIGINS: origin,
        STILE_HOSTED_ALLOWED_REDIRECT_URLS: `${origin}/back`,
      }),
    { scope: "worker" },
  ],
  open: async ({ page, pageErrors, server, origin }, use) => {
    // The browser reports each answer that is an error.
    pageErrors.expect(/the server responded with a status of 401/);
    await use(async (way, { code = false, ownButton = false, otherwise } = {}) => {
      const signIn = { otherwise, codeChallenge: challenge, redirectTo: `${origin}/back`, state: "cart" };
      const given = otherwise ? `&sign-in=${encodeURIComponent(JSON.stringify(signIn))}` : "";
      const query = `${code ? "&code" : ""}${ownButton ? "&button" : ""}${given}`;
      await page.goto(`${origin}/${way}?api=${encodeURIComponent(server.url)}${query}`);
      if (ownButton) await expect(button(page, "Enter")).toBeVisible();
      else await expectPage(page, "login");
    });
  },
});

/** The details of the events of a kind. */
const reported = (page: Page, name: string) =>
  page.evaluate(
    (name) =>
      (window as unknown as { reported: [string, unknown][] }).reported
        .filter(([reportedName]) => reportedName === name)
        .map(([, detail]) => detail),
    name,
  );

/** The status of a request with the cookies of the browser, as the application's page makes it. */
const statusOfSession = (page: Page, url: string) =>
  page.evaluate(async (url) => (await fetch(`${url}/me`, { credentials: "include" })).status, url);

const stored = (page: Page) => page.evaluate(() => localStorage.length + sessionStorage.length);

for (const way of ways) {
  test(`${way}: a login by a mailed code ends with the session cookie, and nothing is stored`, {
    tag: way === "element" ? "@next" : [],
  }, async ({ page, open, server, mailbox, account, authenticator }) => {
    await authenticator.willWait();
    await open(way);
    const asked = mailbox.messages.length;
    await chooseMethod(page, account.address, "code");
    await enterCode(page, await mailbox.codeFor(account.address, asked));
    await declinePasskey(page);
    await expect(page).toHaveTitle("signed in");
    expect(await reported(page, "stile-success")).toEqual([{ kind: "cookie" }]);
    expect(await reported(page, "stile-error")).toEqual([]);
    expect((await reported(page, "stile-statechange")).at(-1)).toEqual({ name: "success" });
    expect(await statusOfSession(page, server.url)).toBe(200);
    expect(await stored(page)).toBe(0);
  });

  test(`${way}: a login by passkey, of the button and of the field's autofill`, async ({
    page,
    open,
    server,
    mailbox,
    address,
    origin,
    authenticator,
  }) => {
    const account = await signUp(server.url, mailbox, address, { passkey: true, origin });
    await authenticator.willWait();
    await open(way);
    await expect(emailField(page)).toHaveAttribute("autocomplete", /\bwebauthn$/);
    await authenticator.take(account.authenticator);
    await authenticator.willConfirm();
    // Chromium answers a conditional request at once when its virtual authenticator has a matching passkey.
    await page.reload();
    await expect(page).toHaveTitle("signed in");
    expect(await statusOfSession(page, server.url)).toBe(200);

    await page.context().clearCookies();
    await withoutAutofill(page);
    await page.reload();
    await button(page, /passkey/).click();
    await expect(page).toHaveTitle("signed in");
    expect(await statusOfSession(page, server.url)).toBe(200);
  });
}

test("element: with a challenge the result is a code, which the application's server redeems", async ({
  page,
  open,
  server,
  account,
  authenticator,
}) => {
  await authenticator.willWait();
  await open("element", { code: true });
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expect(page).toHaveTitle("signed in");
  expect(await statusOfSession(page, server.url)).toBe(401);
  const [result] = (await reported(page, "stile-success")) as {
    kind: string;
    code: string;
    codeVerifier: string;
  }[];
  expect(result?.kind).toBe("code");
  const answer = await fetch(`${server.url}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: result?.code, code_verifier: result?.codeVerifier }),
  });
  expect(answer.status).toBe(200);
  expect(await stored(page)).toBe(0);
});

test("element: a link inside it leads to the hosted page where its script never arrives", async ({
  page,
  server,
  origin,
  pageErrors,
}) => {
  pageErrors.expect(/ERR_FAILED/);
  await page.route(/stile-element\.js/, (route) => route.abort());
  await page.goto(`${origin}/element?api=${encodeURIComponent(server.url)}`);
  // As docs/embedding.md shows it.
  await page.evaluate((url) => {
    const element = document.querySelector("stile-login");
    if (element) element.innerHTML = `<a href="${url}/">Sign in</a>`;
  }, server.url);
  await page.getByRole("link", { name: "Sign in" }).click();
  await expectPage(page, "login");
  expect(page.url()).toContain(server.url);
});

test("react-19: rules of the page for bare elements do not reach into the component", async ({
  page,
  open,
}) => {
  await open("react-19");
  await expect(button(page, "Continue")).not.toHaveCSS("background-color", "rgb(255, 0, 255)");
  await expect(emailField(page)).not.toHaveCSS("border-top-width", "9px");
});

for (const way of ["element", "react-19"] as const)
  test(`${way}: a button of the application signs in with a passkey at hand, else it opens the login`, async ({
    page,
    open,
    server,
    mailbox,
    address,
    origin,
    authenticator,
  }) => {
    const account = await signUp(server.url, mailbox, address, { passkey: true, origin });
    await authenticator.willConfirm();
    await open(way, { ownButton: true });
    await button(page, "Enter").click();
    await expectPage(page, "login");
    expect((await reported(page, "stile-error")).length).toBe(0);
    // The flow that the button has begun goes on, also after a reload in mid-flow.
    await chooseMethod(page, account.address, "password");
    await page.reload();
    await expectPage(page, "password");
    await enterPassword(page, account.password);
    await expect(page).toHaveTitle("signed in");
    expect(await stored(page)).toBe(0);

    await page.context().clearCookies();
    await authenticator.take(account.authenticator);
    await open(way, { ownButton: true });
    await button(page, "Enter").click();
    await expect(page).toHaveTitle("signed in");
    expect(await reported(page, "stile-statechange")).toEqual([{ name: "success" }]);
    expect(await statusOfSession(page, server.url)).toBe(200);
  });

/** Redeems a code, as the application's server does. */
async function expectRedeemed(code: unknown, url: string): Promise<void> {
  const answer = await fetch(`${url}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, code_verifier: verifier }),
  });
  expect(answer.status).toBe(200);
}

const codeIn = (page: Page) => new URL(page.url()).searchParams.get("code");

const enterPasswordIn = async (shown: Page | FrameLocator, { address, password }: Account) => {
  const heading = shown.getByRole("heading", { level: 1 });
  const leadsTo = (title: string) => () => expect(heading).toHaveText(title, { timeout: 5000 });
  await expect(heading).toHaveText(titles.login);
  await shown.getByLabel("Email", { exact: true }).fill(address);
  await press(shown.getByRole("button", { name: "Continue", exact: true }), leadsTo(titles.methods));
  await press(shown.getByRole("button", { name: /password/ }), leadsTo(titles.password));
  await shown.getByLabel("Password", { exact: true }).fill(password);
  await shown.getByRole("button", { name: "Sign in", exact: true }).click();
};

for (const way of ["loader", "element", "react-19"] as const)
  test(`${way}: a button of the application opens the frame or the page only with nothing at hand`, async ({
    page,
    open,
    server,
    mailbox,
    address,
    origin,
    authenticator,
  }) => {
    const account = await signUp(server.url, mailbox, address, { passkey: true, origin });
    await authenticator.willConfirm();
    const enter = async (otherwise: Otherwise) => {
      await page.context().clearCookies();
      await open(way, { ownButton: true, otherwise });
      await button(page, "Enter").click();
    };
    await enter("frame");
    await enterPasswordIn(page.frameLocator("iframe"), account);
    await expect(page).toHaveTitle("signed in");
    const [framed] = (await reported(page, "stile-success")) as { code: string }[];
    await expectRedeemed(framed?.code, server.url);

    await enter("page");
    await expect(page).toHaveURL(`${server.url}/`);
    await enterPasswordIn(page, account);
    await expect(page).toHaveTitle("Back");
    expect(new URL(page.url()).searchParams.get("state")).toBe("cart");
    await expectRedeemed(codeIn(page), server.url);

    await authenticator.take(account.authenticator);
    await enter("frame");
    await expect(page).toHaveTitle("signed in");
    await expect(page.locator("iframe")).toHaveCount(0);
    const [immediate] = (await reported(page, "stile-success")) as { code: string }[];
    await expectRedeemed(immediate?.code, server.url);

    const visited: string[] = [];
    page.on("framenavigated", (frame) => visited.push(new URL(frame.url()).origin));
    await enter("page");
    await expect(page).toHaveTitle("Back");
    expect(visited).not.toContain(server.url);
    await expectRedeemed(codeIn(page), server.url);
    expect(await stored(page)).toBe(0);
  });

for (const way of ["element", "react-19"] as const)
  test(`${way}: a page of an origin that is not listed is told the setting, and no call is repeated for ever`, async ({
    page,
    pageErrors,
    server,
    origin,
  }) => {
    const unlisted = origin.replace("localhost", "127.0.0.1");
    pageErrors.expect(/blocked by CORS policy|net::ERR_FAILED/);
    pageErrors.expect(/^console: Stile: /);
    const told = page.waitForEvent("console", (message) => message.text().startsWith("Stile: "));
    await page.goto(`${unlisted}/${way}?api=${encodeURIComponent(server.url)}`);
    expect((await told).text()).toBe(
      `Stile: ${server.url} refuses the calls of pages of ${unlisted}. Add this origin to cors.allow_origins (STILE_CORS_ALLOW_ORIGINS) of the service.`,
    );
    await expect(page.getByText("This page cannot show the sign-in")).toBeVisible();
    await expect(page.getByText("Trying again")).toHaveCount(0);
    expect(await reported(page, "stile-error")).toContainEqual(
      expect.objectContaining({ code: "origin_refused" }),
    );
  });
