import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Style sheets, and modules that contain one. */
const files = globSync(["components/**/*.css", "server/{dev,http}/**/*.ts", "packages/*/src/*"], {
  cwd: root,
})
  .filter((path) => !path.endsWith(".test.ts"))
  .filter(
    (path) => path.endsWith(".css") || /\b\w*[sS]tyles = `/.test(readFileSync(join(root, path), "utf8")),
  );

/** Declarations that name a side of the screen, which is the wrong one in a text from right to left. */
const physical = [
  /(?:^|[;{\s])(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b[^;]*/g,
  /(?:^|[;{\s])(?:left|right)\s*:\s*[^;]*/g,
  /\bborder-(?:top|bottom)-(?:left|right)-radius\b[^;]*/g,
  /\b(?:text-align|float|clear|caption-side)\s*:\s*(?:left|right)\b/g,
  /\b(?:background|mask|object)-position[^;]*\b(?:left|right)\b[^;]*/g,
];

/** Of four values, the second and the fourth are those of the right and the left side. */
const fourValues =
  /\b(?:margin|padding|inset|border-width)\s*:\s*([^\s;()]+)\s+([^\s;()]+)\s+([^\s;()]+)\s+([^\s;()]+)\s*;/g;

/** Rules for texts from right to left name sides, and so do those that they replace. */
const mirrored = (css: string) => {
  const selectors = [...css.matchAll(/\[dir="rtl"\] ([^{]+?)\s*\{/g)].map(([, selector = ""]) => selector);
  return (rule: string) =>
    rule.includes('[dir="rtl"]') || selectors.some((selector) => rule.trim().startsWith(selector));
};

const rulesOf = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, "").match(/[^{}]*\{[^{}]*\}/g) ?? [];

test.each(files)("%s names no side of the screen", (path) => {
  const source = readFileSync(join(root, path), "utf8");
  const sheets = path.endsWith(".css")
    ? [source]
    : [...source.matchAll(/`[^`]*\{[^`]*:[^`]*\}[^`]*`/g)].map(([css]) => css);
  const found = sheets.flatMap((css) => {
    const isMirrored = mirrored(css);
    return rulesOf(css)
      .filter((rule) => !isMirrored(rule))
      .flatMap((rule) => [
        ...physical.flatMap((pattern) => rule.match(pattern) ?? []),
        ...[...rule.matchAll(fourValues)].flatMap(([all, , right, , left]) => (right === left ? [] : [all])),
      ]);
  });
  expect(found).toEqual([]);
});
