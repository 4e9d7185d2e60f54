import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import { directionOf } from "#words/direction";
import type { PageLanguage } from "#words/language-tags";
import { wordsOf } from "#words/words-of";
import type * as Gallery from "../hosted/drawing/draw-gallery.tsx";

/** Tests of the layout of every picture of the gallery, without a server. */

/** CSS pixels (WCAG 2.2, 1.4.10). */
const NARROWEST = 320;

let gallery: Pick<typeof Gallery, "pictures" | "drawPicture">;
let styles: string;

test.beforeAll(async () => {
  const folder = join(import.meta.dirname, "../dist/hosted");
  gallery = await import(pathToFileURL(join(folder, "draw-gallery.js")).href);
  styles = globSync(join(folder, "assets/pages-*.css"))
    .map((file) => readFileSync(file, "utf8"))
    .join("");
});

/** Shows every picture, one below the other. */
async function show(page: Page, language: PageLanguage): Promise<void> {
  const options = { words: wordsOf(language, {}), language, service: "Stile" };
  const pictures = gallery.pictures.map(({ name }) => ({
    name,
    markup: gallery.drawPicture(name, options),
  }));
  await page.setViewportSize({ width: NARROWEST, height: 900 });
  await page.setContent(
    `<!doctype html><html lang="${language}" dir="${directionOf(language)}"><style>${styles}</style><body class="stile-body">
    ${pictures.map(({ name, markup }) => `<section data-picture="${name}">${markup}</section>`).join("\n")}`,
  );
}

test("the layout of a language from right to left is that of the others in a mirror", async ({ page }) => {
  const boxes = () =>
    page.evaluate(
      (width) =>
        Array.from(document.querySelectorAll<HTMLElement>("[data-picture]"))
          // Dates of the account page have another length in another language.
          .filter((picture) => !picture.querySelector("[data-wide]"))
          .flatMap((picture) =>
            Array.from(
              picture.querySelectorAll(
                ".stile-card, .stile-mark, .stile-input, .stile-button, .stile-icon, .stile-checkbox-box, .stile-alert, .stile-label",
              ),
            )
              .filter((element) => element.checkVisibility())
              // A password is written from left to right everywhere, and its button stands at its end.
              .filter((element) => !element.closest(".stile-password .stile-reveal"))
              .map((element) => {
                const { left, right } = element.getBoundingClientRect();
                const mirrored = getComputedStyle(element).direction === "rtl";
                return {
                  name: `${picture.dataset.picture}: ${element.className}`,
                  left,
                  right,
                  mirrored,
                  width,
                };
              }),
          ),
      NARROWEST,
    );
  await show(page, "en");
  const straight = await boxes();
  await show(page, "ar-XB");
  const mirrored = await boxes();
  expect(straight.length).toBeGreaterThan(500);
  expect(mirrored.map(({ name }) => name)).toEqual(straight.map(({ name }) => name));
  const differing = straight.flatMap(({ name, left, right }, at) => {
    const other = mirrored[at];
    const isMirror =
      other &&
      Math.abs(NARROWEST - other.right - left) < 1.5 &&
      Math.abs(NARROWEST - other.left - right) < 1.5;
    return isMirror ? [] : [`${name}: ${left}–${right}, ${other?.left}–${other?.right}`];
  });
  expect(differing).toEqual([]);
});

test("arrows point along the text; addresses, codes and passwords are written from left to right", async ({
  page,
}) => {
  await show(page, "ar-XB");
  const back = page.locator('[data-picture="login_password"] .stile-icon[data-pointing]').first();
  expect(await back.evaluate((icon) => getComputedStyle(icon).transform)).toBe("matrix(-1, 0, 0, 1, 0, 0)");
  const directionOf = (picture: string, selector: string) =>
    page
      .locator(`[data-picture="${picture}"] ${selector}`)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
  for (const [picture, selector] of [
    ["login_init", "input[name=email]"],
    ["login_password", "input[type=password]"],
    ["login_password", ".stile-identity strong"],
    ["passcode_confirmation", "input[name=code]"],
    ["mfa_otp_secret_creation", ".stile-secret code"],
    ["success_with_codes", ".stile-codes-list code"],
  ] as const)
    expect(await directionOf(picture, selector), `${picture} ${selector}`).toBe("ltr");
  expect(await directionOf("login_password", ".stile-title")).toBe("rtl");
});
