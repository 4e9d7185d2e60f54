import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { theme as themeSchema } from "../config/sections/theme.ts";
import { contrast, readable } from "./color.ts";
import { contrastWarnings, isDefaultTheme, themeCss } from "./theme-css.ts";

const themeOf = (settings: object) => themeSchema.parse(settings);

/** The custom properties of a theme in a colour scheme, read from its style sheet. */
function propertiesOf(settings: object, scheme: "light" | "dark"): Record<string, string> {
  const [light = "", dark = ""] = themeCss(themeOf(settings)).split("@media (prefers-color-scheme: dark)");
  const read = (part: string) =>
    Object.fromEntries(
      [...part.matchAll(/--stile-([a-z-]+): ([^;]+);/g)].map(([, name, value]) => [name, value]),
    );
  return scheme === "light" ? read(light) : { ...read(light), ...read(dark) };
}

describe("contrast", () => {
  test.each([
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    ["#777777", "#ffffff", 4.48],
    ["#0000ff", "#ffffff", 8.59],
  ])("of %s and %s is %d", (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 1);
    expect(contrast(other, one)).toBeCloseTo(ratio, 1);
  });

  test("changes a colour only as far as needed", () => {
    expect(readable("#1f5b43", ["#ffffff"], 4.5)).toBe("#1f5b43");
    expect(contrast(readable("#8fd3b0", ["#ffffff"], 4.5), "#ffffff")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(readable("#8fd3b0", ["#ffffff"], 4.5), "#ffffff")).toBeLessThan(5.2);
  });
});

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);
const palette = fc.record({ accent: color, surface: color, ink: color });

test("every theme can be read, whatever its colours", () => {
  fc.assert(
    fc.property(palette, palette, fc.constantFrom("stile", "slate", "paper"), (light, dark, preset) => {
      const settings = {
        preset,
        light: { ...light, ground: light.surface },
        dark: { ...dark, ground: dark.surface },
      };
      for (const scheme of ["light", "dark"] as const) {
        const { ink, surface, accent, fault, ...others } = propertiesOf(settings, scheme);
        const pairs: [string | undefined, string | undefined, number][] = [
          [ink, surface, 4.5],
          [others["ink-soft"], surface, 4.5],
          [accent, surface, 4.5],
          [others["on-accent"], accent, 4.5],
          [fault, surface, 4.5],
          [others["line-strong"], surface, 3],
        ];
        for (const [front = "", back = "", ratio] of pairs)
          expect(contrast(front, back), `${front} on ${back}`).toBeGreaterThanOrEqual(ratio);
      }
    }),
  );
});

test("a colour with too little contrast is named, with the colour that is used", () => {
  const theme = themeOf({ light: { accent: "#ffe066" } });
  const [warning, ...others] = contrastWarnings(theme);
  expect(others).toEqual([]);
  expect(warning).toMatchObject({ setting: "theme.light.accent", color: "#ffe066" });
  expect(warning?.contrast).toBeLessThan(2);
  expect(propertiesOf({ light: { accent: "#ffe066" } }, "light").accent).toBe(warning?.used);
});

test.each(["stile", "slate", "paper"])("the colours of the theme %s are used as they are", (preset) => {
  for (const scheme of ["light", "dark"] as const) {
    const shown = propertiesOf({ preset }, scheme);
    const repeated = { [scheme]: { accent: shown.accent, ink: shown.ink } };
    expect(contrastWarnings(themeOf({ preset, ...repeated }))).toEqual([]);
  }
});

test("an accent of the light scheme is that of the dark one too, as far as it can be read", () => {
  const dark = propertiesOf({ light: { accent: "#7a1fa2" } }, "dark");
  expect(contrast(dark.accent ?? "", dark.surface ?? "")).toBeGreaterThanOrEqual(4.5);
  expect(dark.accent).not.toBe(propertiesOf({}, "dark").accent);
});

test("every property of the pages that differs between the schemes is part of a theme", () => {
  const sheet = readFileSync(join(import.meta.dirname, "../../components/ui/theme.css"), "utf8");
  const [, dark = ""] = sheet.split("@media (prefers-color-scheme: dark)");
  const differing = [...dark.matchAll(/--stile-([a-z-]+):/g)].map(([, name]) => name);
  expect(differing.length).toBeGreaterThan(10);
  expect(Object.keys(propertiesOf({ color_scheme: "light" }, "light"))).toEqual(
    expect.arrayContaining(differing),
  );
});

test.each([{ radius: 4 }, { font: "serif" }, { density: "compact" }, { color_scheme: "dark" }])(
  "a theme without colours of its own, %j, has those of the style sheet of the pages",
  (settings) => {
    const sheet = readFileSync(join(import.meta.dirname, "../../components/ui/theme.css"), "utf8");
    const [light = "", dark = ""] = sheet.split("@media (prefers-color-scheme: dark)");
    const read = (part: string) =>
      Object.fromEntries(
        [...part.matchAll(/--stile-([a-z-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value]),
      );
    if (!("color_scheme" in settings)) {
      const { font, radius, control, card, "radius-card": _, ...colors } = propertiesOf(settings, "light");
      expect(read(light)).toMatchObject(colors);
    }
    expect(propertiesOf(settings, "dark")).toMatchObject(read(dark));
  },
);

test("one colour scheme alone has no rules for the other", () => {
  const css = themeCss(themeOf({ color_scheme: "dark" }));
  expect(css).toContain("color-scheme: dark;");
  expect(css).not.toContain("@media");
});

test("the default theme needs no style sheet", () => {
  expect(isDefaultTheme(themeOf({}))).toBe(true);
  for (const settings of [
    { radius: 10 },
    { preset: "paper" },
    { light: { ink: "#000000" } },
    { density: "compact" },
  ])
    expect(isDefaultTheme(themeOf(settings))).toBe(false);
});

test.each([
  [{ light: { accent: "red" } }],
  [{ light: { accent: "#fff" } }],
  [{ light: { accent: "#ffffff;}body{display:none" } }],
  [{ light: { accent: "#ffffff\n" } }],
  [{ light: { accent: "url(https://evil.example)" } }],
  [{ font: "x;}@import url(https://evil.example)" }],
  [{ radius: "1px;}" }],
  [{ radius: 99 }],
  [{ logo: { light: "https://evil.example/logo.png" } }],
  [{ logo: { light: "data:text/html;base64,PGI+" } }],
  [{ logo: { light: 'data:image/png;base64,AAAA" onerror="x' } }],
  [{ favicon: "javascript:alert(1)" }],
  [{ extra: 1 }],
])("A102 the theme %j is rejected", (settings) => {
  expect(themeSchema.safeParse(settings).success).toBe(false);
});
