import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import config from "../playwright.config.ts";
import { copyTemplate, startTestCluster } from "../server/testing/postgres-cluster.ts";
import { startServer } from "../server/testing/server.ts";
import { startSmtp } from "../server/testing/smtp.ts";
import { backdateSignIns, signUp } from "./account.ts";
import { axeViolations, openConsole } from "./console.ts";
import { fillConsole, filledSettings } from "./console-data.ts";
import type { Picture, Visitor } from "./console-picture.ts";
import { missingPictures, picturesOf } from "./console-pictures.ts";

/**
 * `npm run screenshots:console [-- folder [words]]`: every page and every window of the console, on a phone and a desktop,
 * light and dark, into a folder (`.screenshots/console`) with one page that shows all of them. Words choose pictures by the
 * beginnings of their names, and sets, for instance `imports 390 dark`. Each picture is checked with axe. It fails if axe finds
 * anything, or if a page or a window has no picture, does not load, or is wider than its browser's window.
 */

/** What a page shows in place of what it waits for. */
const waiting = ".mantine-Skeleton-root, .mantine-Loader-root";

/** Longer than a page takes on a slow machine. */
const TIMEOUT_MS = 30_000;

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

/** What axe found, with the pictures in which it was found. */
const violations = new Map<string, string[]>();
const faults: string[] = [];

const { cluster, stop: stopCluster } = await startTestCluster();
const { url: database } = await copyTemplate(cluster);
const mailbox = await startSmtp();
const server = await startServer({
  env: {
    ...filledSettings,
    // The last picture takes a change, too. Sign-ins that are too old for one are an hour old.
    STILE_CONSOLE_STEP_UP_AFTER: "3500",
    SMTP_URL: mailbox.url,
    DATABASE_URL: database,
  },
});
const browser = await chromium.launch(config.use?.launchOptions ?? {});
const shown: string[] = [];
try {
  const things = await fillConsole(server, database);
  const missing = missingPictures(things);
  if (missing.length > 0) throw new Error(missing.join("\n"));
  const stale = await signedIn("stale@example.com", "operator");
  await backdateSignIns(database);
  const visitors = {
    stale,
    auditor: await signedIn("auditor@example.com", "auditor"),
    operator: await signedIn("operator@example.com", "operator"),
  };
  const chosen = picturesOf(visitors.operator.home, things).filter(({ name }) => isChosen(name));
  shown.push(...chosen.map(({ name }) => name));
  if (words.length === 0) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Half of the time of a picture is waiting for the service.
  const chosenWidths = new Set(chosenSets.map(({ width }) => width));
  await Promise.all([...chosenWidths].map((width) => takeAll(chosen, width, visitors)));
  writeFileSync(join(folder, "index.html"), indexOf(shown));
} finally {
  await browser.close();
  await server.stop();
  await mailbox.close();
  await stopCluster();
}
process.stdout.write(`${join(folder, "index.html")}\n`);
for (const [violation, where] of violations) faults.push(`${violation}\n  in ${where.toSorted().join(", ")}`);
if (faults.length === 0)
  process.stdout.write("axe found nothing, and each picture is as wide as its window\n");
else {
  process.stdout.write(`\n${faults.join("\n\n")}\n\n${faults.length} faults\n`);
  process.exitCode = 1;
}

/** A browser that is signed in to the console, and the id of the tenant that it begins with. */
interface SignedIn {
  home: string;
  storageState: Awaited<ReturnType<BrowserContext["storageState"]>>;
}

async function signedIn(address: string, role: string): Promise<SignedIn> {
  const account = await signUp(server.url, mailbox, address);
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC" });
  const home = (await openConsole(await context.newPage(), server, account, role)).split("/").at(-1) ?? "";
  const storageState = await context.storageState();
  await context.close();
  return { home, storageState };
}

/** Takes the pictures of a width, one after the other. */
async function takeAll(
  chosen: readonly Picture[],
  width: number,
  visitors: Record<Visitor, SignedIn>,
): Promise<void> {
  for (const [by, pictures] of Map.groupBy(chosen, ({ by = "operator" }) => by)) {
    const context = await browser.newContext({
      storageState: visitors[by].storageState,
      viewport: { width, height: width === 390 ? 844 : 900 },
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
    });
    for (const picture of pictures) {
      if (picture.width !== undefined && picture.width !== width) continue;
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      try {
        await show(page, picture);
        for (const set of chosenSets.filter((one) => one.width === width))
          await take(page, `${picture.name}-${width}-${set.scheme}`, set.scheme);
      } catch (error) {
        const [message = ""] = (error as Error).message.split("\nCall log");
        noteFault(`${picture.name}-${width} has no picture: ${message}`);
      }
      await page.close();
    }
    await context.close();
  }
}

function noteFault(fault: string): void {
  faults.push(fault);
  process.stdout.write(`${fault}\n`);
}

/** Brings a page into the state that a picture is of. */
async function show(page: Page, { address, prepare, open, waits }: Picture): Promise<void> {
  await prepare?.(page);
  await page.goto(`${server.url}/console/${address}`);
  if (waits && !open) await page.locator(waiting).first().waitFor();
  else await settle(page);
  await open?.(page);
  if (!waits) await settle(page);
}

/** Takes a picture, and notes what is wrong with what it shows. */
async function take(page: Page, name: string, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction(
    (scheme) => document.documentElement.dataset.mantineColorScheme === scheme,
    colorScheme,
  );
  if (await isWiderThanWindow(page)) noteFault(`${name} is wider than its window`);
  // A window is in the middle of what is in sight.
  const isWindow = (await page.locator("[role=dialog], .mantine-Notification-root").count()) > 0;
  const size = page.viewportSize();
  if (!isWindow) await paintFrames(page);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, fullPage: !isWindow, caret: "hide", animations: "disabled" });
  if (size) await page.setViewportSize(size);
  for (const { rule, elements } of await axeViolations(page))
    for (const element of elements) {
      const violation = `${rule}\n  ${element}`;
      if (!violations.has(violation)) process.stdout.write(`${name}: ${violation}\n`);
      violations.set(violation, [...(violations.get(violation) ?? []), name]);
    }
  process.stdout.write(`${name}\n`);
}

/** Waits until a page has what it asks the service for. */
async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.waitForFunction((selector) => !document.querySelector(selector), waiting);
  // Previews and mails are pages of their own. One that is far below is loaded when it comes into sight.
  for (const frame of await page.locator("iframe").filter({ visible: true }).all()) {
    await frame.scrollIntoViewIfNeeded();
    await frame.contentFrame().locator("body > *").first().waitFor({ state: "attached" });
  }
  await page.waitForFunction((selector) => !document.querySelector(selector), waiting);
  await page.evaluate(() => {
    window.scrollTo(0, 0);
    for (const pane of document.querySelectorAll(".preview-pane")) pane.scrollTo(0, 0);
  });
}

/** Makes the window as high as a page with pictures in frames: browsers paint frames that are in sight. */
async function paintFrames(page: Page): Promise<void> {
  // A frame without scripts has no picture that is sent to it.
  const frames = await page.locator("iframe[sandbox~=allow-scripts]").filter({ visible: true }).all();
  const size = page.viewportSize();
  if (frames.length === 0 || !size) return;
  await page.setViewportSize({
    ...size,
    height: await page.evaluate(() => document.documentElement.scrollHeight),
  });
  for (const frame of frames)
    await frame
      .contentFrame()
      .locator("body")
      .evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
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
