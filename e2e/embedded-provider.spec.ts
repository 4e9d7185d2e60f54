import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { build } from "esbuild";
import { buildElement, buildReact } from "../scripts/build-packages.ts";
import { freePort } from "../server/testing/free-port.ts";
import { settingsFor } from "./client-pages.ts";
import { expect } from "./fixtures.ts";
import { test as base, signInAtAcme } from "./provider.ts";
import { button, expectPage } from "./steps.ts";

const reactApplication = `
  import { Login } from "@stile-auth/react";
  import { createRoot } from "react-dom/client";
  const url = new URLSearchParams(location.search).get("api") ?? localStorage.getItem("api");
  localStorage.setItem("api", url);
  const onSuccess = ({ kind }) => { document.title = "signed in by " + kind; };
  createRoot(document.querySelector("main")).render(<Login url={url} onSuccess={onSuccess} />);`;

const html = (script: string) => `<!doctype html><html lang="en"><title>App</title><link rel=icon href=data:,>
  <body><main></main><script type=module src="${script}"></script><script type=module>
    const url = new URLSearchParams(location.search).get("api") ?? localStorage.getItem("api");
    localStorage.setItem("api", url);
    if (customElements.get("stile-login")) {
      const element = document.createElement("stile-login");
      element.addEventListener("stile-success", ({ detail }) => { document.title = "signed in by " + detail.kind; });
      element.setAttribute("url", url);
      document.querySelector("main").append(element);
    }
  </script>`;

const scripts = { element: "/element/stile-element.js", react: "/react-application/application.js" };

// An application on another origin, whose users return to it from the provider.
const test = base.extend<object, { origin: string }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "stile-embedded-"));
      await buildElement(join(folder, "element"));
      await buildReact(join(folder, "react"));
      await build({
        stdin: { contents: reactApplication, loader: "jsx", resolveDir: process.cwd() },
        bundle: true,
        splitting: true,
        format: "esm",
        jsx: "automatic",
        entryNames: "application",
        outdir: join(folder, "react-application"),
        alias: { "@stile-auth/react": join(folder, "react", "index.js") },
        nodePaths: [join(process.cwd(), "node_modules")],
        logLevel: "error",
      });
      const application = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? "/", "http://localhost");
        const isScript = extname(pathname) === ".js";
        response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
        response.end(
          isScript ? readFileSync(join(folder, pathname)) : html(scripts[pathname.slice(1) as "element"]),
        );
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
        STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: `${origin}/element,${origin}/react`,
      }),
    { scope: "worker" },
  ],
});

for (const way of ["element", "react"] as const)
  test(`${way}: a login at a provider returns to the application's page and ends there`, async ({
    page,
    server,
    acme,
    address,
    origin,
  }) => {
    acme.person(address, { email: address, email_verified: true });
    await page.goto(`${origin}/${way}?api=${encodeURIComponent(server.url)}`);
    await expectPage(page, "login");
    await button(page, "Continue with Acme").click();
    await signInAtAcme(page, address);
    await expect(page).toHaveTitle("signed in by cookie");
    expect(new URL(page.url()).origin + new URL(page.url()).search).toBe(origin);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
