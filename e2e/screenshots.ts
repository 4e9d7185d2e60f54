import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "@playwright/test";
import config from "../playwright.config.ts";
import type { Embedding } from "./stage/stage.tsx";
import { buildStudio, draw } from "./stage/studio.ts";

/**
 * `npm run screenshots [-- words]`: every picture of the gallery as page, frame and element, on a phone and a desktop,
 * light and dark, into `screenshots/`, with contact sheets of each set. Words choose sets, for instance `page 390 dark`,
 * and the beginnings of names, for instance `login_init`.
 */
const folder = join(import.meta.dirname, "../screenshots");

interface PictureSet {
  embedding: Embedding;
  width: number;
  scheme: "light" | "dark";
}

const sets: PictureSet[] = (["page", "frame", "element"] as const).flatMap((embedding) =>
  [390, 1280].flatMap((width) =>
    (["light", "dark"] as const).map((scheme) => ({ embedding, width, scheme })),
  ),
);

const words = process.argv.slice(2);
const setWords = new Set(sets.flatMap((set) => Object.values(set).map(String)));
const beginnings = words.filter((word) => !setWords.has(word));
const chosen = sets.filter((set) => {
  const own = new Set(Object.values(set).map(String));
  // Each kind of word that is given must name the set: `page frame 390` is both embeddings on a phone.
  return Object.keys(set).every((key) => {
    const ofKind = words.filter((word) =>
      sets.some((each) => String(each[key as keyof PictureSet]) === word),
    );
    return ofKind.length === 0 || ofKind.some((word) => own.has(word));
  });
});

/** A picture on a sheet. */
interface Shot {
  name: string;
  png: Buffer;
}

const studio = await buildStudio();
const browser = await chromium.launch(config.use?.launchOptions ?? {});
try {
  for (const { embedding, width, scheme } of chosen) {
    const title = `${embedding}-${width}-${scheme}`;
    const path = join(folder, title);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    const context = await browser.newContext({
      viewport: { width, height: 844 },
      colorScheme: scheme,
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await studio.open(page, embedding);
    // A page of an application has a ground of its own, and so has one that holds a frame.
    if (embedding !== "page")
      await page.addStyleTag({ content: `html { background: ${scheme === "dark" ? "#15171a" : "#fff"} }` });
    const names = await page.evaluate((embedding) => window.stage.names(embedding), embedding);
    const shots: Shot[] = [];
    for (const name of names) {
      if (beginnings.length > 0 && !beginnings.some((beginning) => name.startsWith(beginning))) continue;
      await draw(page, { name, embedding, language: "en" });
      const png = await page.screenshot({ fullPage: true, caret: "hide", animations: "disabled" });
      writeFileSync(join(path, `${name}.png`), png);
      shots.push({ name, png });
    }
    await context.close();
    const sheet = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await writeSheets(sheet, title, shots, width < 600 ? 8 : 4);
    await sheet.close();
    process.stdout.write(`screenshots/${title}: ${shots.length}\n`);
  }
} finally {
  await browser.close();
}

/** Contact sheets of three rows each: many pictures at a glance. */
async function writeSheets(page: Page, title: string, shots: Shot[], columns: number): Promise<void> {
  const onSheet = columns * 3;
  for (let first = 0; first < shots.length; first += onSheet) {
    const figures = shots
      .slice(first, first + onSheet)
      .map(
        ({ name, png }) =>
          `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${png.toString("base64")}"></figure>`,
      );
    await page.setContent(`<style>
      body { display: grid; grid-template-columns: repeat(${columns}, minmax(0, 1fr)); gap: 12px; margin: 12px; background: #888; font: 11px sans-serif; }
      figure { margin: 0; } figcaption { overflow: hidden; white-space: nowrap; }
      img { display: block; width: 100%; max-height: 720px; object-fit: cover; object-position: top; }
      </style>${figures.join("")}`);
    const number = String(first / onSheet + 1).padStart(2, "0");
    await page.screenshot({ path: join(folder, `${title}-${number}.png`), fullPage: true });
  }
}
