import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { chromium, type Page } from "@playwright/test";
import config from "../playwright.config.ts";
import { startServer } from "../server/testing/server.ts";
import { startSmtp } from "../server/testing/smtp.ts";
import { signUp } from "./account.ts";
import { openConsole } from "./console.ts";
import { type ConsoleThings, fillConsole, filledSettings } from "./console-data.ts";

/**
 * `npm run screenshots:console [-- folder [words]]`: every page of the console, on a phone and a desktop, light and dark, into a
 * folder (`.screenshots/console`) with one page that shows all of them. Words choose pages by the beginnings of their names, and
 * sets, for instance `imports 390 dark`. It fails if a page has no picture, does not load, or is wider than its window.
 */

const root = join(import.meta.dirname, "../app/console");

/** A picture: its name, and its address below `/console`. */
type Pictured = readonly [name: string, address: string];

/** The id of no test sign-in. */
const NO_TEST = "00000000-0000-4000-8000-000000000000";

/** The pictures of each page, by its folder. */
const pictures: Record<string, (home: string, things: ConsoleThings) => Pictured[]> = {
  "": () => [],
  "[...missing]": (home) => [["not-found", `${home}/no-such-page`]],
  confirmed: () => [["confirmed", "confirmed"]],
  refused: () => [["refused", "refused?reason=no_role"]],
  "signed-out": () => [["signed-out", "signed-out"]],
  "[tenant]": (home) => [["overview", home]],
  "[tenant]/sign-ins": (home) => [["sign-ins", `${home}/sign-ins`]],
  "[tenant]/sign-ins/[flow]": (home, { flow }) => [["sign-ins-one", `${home}/sign-ins/${flow}`]],
  "[tenant]/funnel": (home) => [["funnel", `${home}/funnel`]],
  "[tenant]/users": (home) => [
    ["users", `${home}/users`],
    ["users-none", `${home}/users?q=no-such-user`],
  ],
  "[tenant]/users/[user]": (home, { user }) =>
    ["", "sign_in", "sessions", "applications", "timeline"].map((tab) => [
      `users-one-${tab || "profile"}`,
      `${home}/users/${user}${tab && `?tab=${tab}`}`,
    ]),
  "[tenant]/imports": (home) => [["imports", `${home}/imports`]],
  "[tenant]/imports/[import]": (home, { imports }) => [
    ["imports-checked", `${home}/imports/${imports.checked}`],
    ["imports-cut-off", `${home}/imports/${imports.cutOff}`],
  ],
  "[tenant]/messages": (home) => [["messages", `${home}/messages`]],
  "[tenant]/messages/previews": (home) => [["messages-previews", `${home}/messages/previews`]],
  "[tenant]/audit-log": (home) => [["audit-log", `${home}/audit-log`]],
  "[tenant]/webhooks": (home) => [["webhooks", `${home}/webhooks`]],
  "[tenant]/webhooks/[webhook]": (home, { webhook }) => [["webhooks-one", `${home}/webhooks/${webhook}`]],
  "[tenant]/settings": (home, { tenant }) => [
    ["settings", `${home}/settings`],
    ["settings-of-tenant", `${tenant.id}/settings?section=password`],
  ],
  "[tenant]/settings/history": (_, { tenant }) => [["settings-history", `${tenant.id}/settings/history`]],
  "[tenant]/look": (home, { tenant }) => [
    ["look", `${home}/look`],
    ["look-of-tenant-words", `${tenant.id}/look?edit=words`],
  ],
  "[tenant]/providers": (home, { tenant }) => [
    ["providers", `${home}/providers`],
    ["providers-of-tenant", `${tenant.id}/providers`],
  ],
  "[tenant]/providers/[provider]": (_, { tenant }) => [
    ["providers-one-oauth", `${tenant.id}/providers/${tenant.provider}`],
    ["providers-one-saml", `${tenant.id}/providers/${tenant.samlProvider}`],
  ],
  "[tenant]/providers/[provider]/test": (_, { tenant }) => [
    ["providers-test-gone", `${tenant.id}/providers/${tenant.provider}/test?id=${NO_TEST}`],
  ],
  "[tenant]/applications": (home) => [["applications", `${home}/applications`]],
  "[tenant]/applications/[application]": (home, { application, tenant }) => [
    ["applications-one", `${tenant.id}/applications/${tenant.application}`],
    ["applications-one-users", `${home}/applications/${application}?tab=users`],
    ["applications-one-logouts", `${home}/applications/${application}?tab=logouts`],
  ],
  "[tenant]/keys": (home) => [["keys", `${home}/keys`]],
  "[tenant]/signing-keys": (home) => [["signing-keys", `${home}/signing-keys`]],
  "[tenant]/roles": (home) => [["roles", `${home}/roles`]],
  "[tenant]/tenants": (home) => [["tenants", `${home}/tenants`]],
};

/** The pages of the application, by their folders without groups. */
const pages = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((path) => path.split(sep))
  .filter((parts) => parts.at(-1) === "page.tsx")
  .map((parts) =>
    parts
      .slice(0, -1)
      .filter((part) => !/^\(.*\)$/.test(part))
      .join("/"),
  );

const withoutPicture = pages.filter((page) => !Object.hasOwn(pictures, page));
const withoutPage = Object.keys(pictures).filter((page) => !pages.includes(page));
if (withoutPicture.length > 0 || withoutPage.length > 0)
  throw new Error(
    `pages without a picture: ${withoutPicture.join(", ")}; pictures without a page: ${withoutPage.join(", ")}`,
  );

const widths = [390, 1280] as const;
const schemes = ["light", "dark"] as const;
const sets = widths.flatMap((width) => schemes.map((scheme) => ({ width, scheme })));

const [argument = ".screenshots/console", ...words] = process.argv.slice(2);
const folder = resolve(argument);
const ofSets = (word: string) => sets.some((set) => Object.values(set).map(String).includes(word));
const names = words.filter((word) => !ofSets(word));
const isChosen = (name: string) => names.length === 0 || names.some((word) => name.startsWith(word));
const chosenSets = sets.filter(({ width, scheme }) => {
  const given = (own: readonly (string | number)[], value: string | number) => {
    const ofKind = words.filter((word) => own.map(String).includes(word));
    return ofKind.length === 0 || ofKind.includes(String(value));
  };
  return given(widths, width) && given(schemes, scheme);
});

const mailbox = await startSmtp();
const server = await startServer({ env: { ...filledSettings, SMTP_URL: mailbox.url } });
const browser = await chromium.launch(config.use?.launchOptions ?? {});
const faults: string[] = [];
try {
  const things = await fillConsole(server);
  const operator = await signUp(server.url, mailbox, "operator@example.com");
  const first = await browser.newContext({ locale: "en-GB", timezoneId: "UTC" });
  const home = (await openConsole(await first.newPage(), server, operator)).split("/").at(-1) ?? "";
  const storageState = await first.storageState();
  await first.close();
  const chosen = Object.values(pictures)
    .flatMap((of) => of(home, things))
    .filter(([name]) => isChosen(name));
  if (words.length === 0) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { width, scheme } of chosenSets) {
    const context = await browser.newContext({
      storageState,
      viewport: { width, height: width === 390 ? 844 : 900 },
      colorScheme: scheme,
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    for (const [name, address] of chosen) {
      const picture = `${name}-${width}-${scheme}`;
      await page.goto(`${server.url}/console/${address}`);
      await settle(page);
      if (await isWiderThanWindow(page)) faults.push(`${picture} is wider than its window`);
      const path = join(folder, `${picture}.png`);
      await page.screenshot({ path, fullPage: true, caret: "hide", animations: "disabled" });
      process.stdout.write(`${picture}\n`);
    }
    await context.close();
  }
  writeFileSync(join(folder, "index.html"), indexOf(chosen.map(([name]) => name)));
} finally {
  await browser.close();
  await server.stop();
  await mailbox.close();
}
process.stdout.write(`${join(folder, "index.html")}\n`);
if (faults.length > 0) throw new Error(faults.join("\n"));

/** Waits until a page has what it asks the service for. */
async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.waitForFunction(() => !document.querySelector(".mantine-Skeleton-root, .mantine-Loader-root"));
}

function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}

/** One page with all pictures, a row for each page of the console. */
function indexOf(shown: readonly string[]): string {
  const rows = shown.map((name) => {
    const images = chosenSets.map(
      ({ width, scheme }) =>
        `<td><a href="${name}-${width}-${scheme}.png"><img loading="lazy" alt="${name}, ${width}, ${scheme}" src="${name}-${width}-${scheme}.png"></a></td>`,
    );
    return `<tr><th scope="row">${name}</th>${images.join("")}</tr>`;
  });
  const heads = chosenSets.map(({ width, scheme }) => `<th scope="col">${width} ${scheme}</th>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>The console</title><style>
    body { margin: 12px; background: #888; font: 13px sans-serif; }
    th { position: sticky; top: 0; background: #888; text-align: left; vertical-align: top; padding: 4px; }
    td { vertical-align: top; } img { display: block; max-width: 360px; max-height: 560px; object-fit: cover; object-position: top; }
    </style><table><thead><tr><th></th>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></html>\n`;
}
