import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandsOf, runCommands } from "../examples/guide-commands.ts";
import { freePort } from "../server/testing/free-port.ts";
import { test as base, expect } from "./fixtures.ts";
import { button, chooseMethod, declinePasskey, enterPassword, expectPage } from "./steps.ts";

/** The applications of the guides that sign their users in by OpenID Connect, built as their commands say. */

const root = join(import.meta.dirname, "..");
const names = ["openid-spa", "openid-next"] as const;
type Name = (typeof names)[number];

const test = base.extend<{ start(name: Name): Promise<string> }, { urls: Record<Name, string> }>({
  urls: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const urls = await Promise.all(
        names.map(async (name) => [name, `http://localhost:${await freePort()}`]),
      );
      await use(Object.fromEntries(urls));
    },
    { scope: "worker" },
  ],

  // Both guides call their client `shop`: here each has its own name.
  settings: [
    async ({ urls }, use) => {
      const clients = names.map((name) => [name, clientOf(name, urls[name])]);
      await use({
        STILE_OPENID_ENABLED: "true",
        STILE_OPENID_CLIENTS: JSON.stringify(Object.fromEntries(clients)),
      });
    },
    { scope: "worker" },
  ],

  start: async ({ urls, server }, use) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "stile-guides-")));
    const processes: ChildProcess[] = [];
    await use(async (name) => {
      const { application } = commandsOf(name);
      const [copy = "", ...rest] = application;
      const source = `/tmp/shop-${name}/${name === "openid-spa" ? "src/main.js" : "auth.js"}`;
      const renamed = `sed -i 's/"shop"/"${name}"/' ${source}`;
      const commands = [copy, renamed, `export VITE_STILE_URL=${server.url}`, ...rest];
      await runCommands(commands, { packages: folder, applications: folder });
      const app = join(folder, `shop-${name}`);
      // The packages are links, which Turbopack follows below its root alone.
      if (name === "openid-next")
        writeFileSync(
          join(app, "next.config.js"),
          'export default { turbopack: { root: "/" }, devIndicators: false };\n',
        );
      const { port } = new URL(urls[name]);
      const program = name === "openid-spa" ? "vite/bin/vite.js" : "next/dist/bin/next";
      const parameters = name === "openid-spa" ? ["preview", "--strictPort", "--host", "localhost"] : ["dev"];
      const child = spawn(
        process.execPath,
        [join(root, "node_modules", program), ...parameters, "--port", port],
        {
          cwd: app,
          stdio: "ignore",
          env: {
            PATH: process.env.PATH ?? "",
            NODE_ENV: "development",
            NEXT_TELEMETRY_DISABLED: "1",
            STILE_URL: server.url,
            APP_URL: urls[name],
            STILE_CLIENT_SECRET: clientOf(name, urls[name]).secret,
            AUTH_SECRET: "a secret of the application for the tests alone",
          },
        },
      );
      processes.push(child);
      await expect
        .poll(() => fetch(urls[name]).then(({ status }) => status, String), { timeout: 120_000 })
        .toBe(200);
      return urls[name];
    });
    for (const child of processes) {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  },
});

/** The client in the commands of a guide, at the address of this run. */
function clientOf(name: Name, url: string) {
  const guide = readFileSync(join(root, "examples", name, "README.md"), "utf8");
  const [, json = "{}"] = /^STILE_OPENID_CLIENTS='(.*)'/m.exec(guide) ?? [];
  return JSON.parse(json.replaceAll("http://localhost:4000", url)).shop;
}

test("a page without a back end signs in, renews its tokens and signs out with oidc-client-ts, and finds the session in a new tab", async ({
  page,
  context,
  account,
  start,
}) => {
  test.setTimeout(180_000);
  const url = await start("openid-spa");
  await page.goto(url);
  await button(page, "Sign in").click();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  const status = page.getByRole("status");
  await expect(status).toHaveText(`Signed in as ${account.address}`);
  expect(page.url()).toBe(`${url}/`);
  await page.reload();
  await expect(status).toHaveText(`Signed in as ${account.address}`);
  await button(page, "Renew").click();
  await expect(status).toHaveText("The tokens are new.");
  const tab = await context.newPage();
  await tab.goto(url);
  await expect(tab.getByRole("status")).toHaveText(`Signed in as ${account.address}`);
  await tab.close();
  await button(page, "Sign out").click();
  await expect(status).toHaveText("Not signed in.");
  expect(page.url()).toBe(`${url}/`);
  await button(page, "Sign in").click();
  await expectPage(page, "login");
});

test("an application of Next signs in with Auth.js, and signs out there and here", async ({
  page,
  pageErrors,
  account,
  start,
}) => {
  test.setTimeout(240_000);
  pageErrors.expect(/favicon\.ico/);
  const url = await start("openid-next");
  await page.goto(url);
  await button(page, "Sign in").click();
  await expectPage(page, "login");
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await expect(page.getByText(`Signed in as ${account.address}`)).toBeVisible();
  expect((await page.request.get(`${url}/api/auth/session`)).status()).toBe(404);
  await page.reload();
  await button(page, "Sign out").click();
  await button(page, "Sign in").click();
  await expectPage(page, "login");
});
