import { describe, expect, test } from "vitest";
import { pageLanguage } from "#server/http/request/language";
import { createMailWriter } from "#server/mail/mail-writer";
import { directionOf } from "./direction.ts";
import { languageTags, pseudoTags } from "./language-tags.ts";
import { textPaths } from "./own-texts.ts";
import { wordsOf } from "./words-of.ts";

/** The text of a language by its path. */
function textAt(tag: Parameters<typeof wordsOf>[0], path: string): string {
  const { flow, ...others } = wordsOf(tag, {});
  const found = path
    .split(".")
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], { ...flow, ...others });
  if (typeof found !== "string") throw new Error(`${path} is no text`);
  return found;
}

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name);

describe.each(pseudoTags)("the pseudo-language %s", (tag) => {
  test("has every text of English, with its placeholders", () => {
    const differing = textPaths.filter(
      (path) => String(placeholders(textAt(tag, path))) !== String(placeholders(textAt("en", path))),
    );
    expect(differing).toEqual([]);
  });

  test("leaves no word of English as it is", () => {
    for (const path of textPaths) expect(textAt(tag, path)).not.toBe(textAt("en", path));
  });

  test("can be chosen in development, and never in production or by the browser's preference", () => {
    expect(pageLanguage(tag, "fr", "development")).toBe(tag);
    expect(languageTags).toContain(pageLanguage(tag, "fr", "production"));
    expect(languageTags).toContain(pageLanguage(null, tag, "development"));
  });

  test("is written in mails, too", () => {
    const { html, text } = createMailWriter({ service: "Acme", host: "login.acme.example" })(
      { type: "mfa_create", factor: "totp" },
      tag,
    );
    expect(html).toContain(`<html lang="${tag}" dir="${directionOf(tag)}">`);
    expect(text).toContain("Acme");
  });
});

test("the accented texts are about 40 per cent longer, and in brackets", () => {
  for (const path of textPaths) {
    const [ours, longer] = [textAt("en", path), textAt("en-XA", path)];
    expect(longer, path).toMatch(/^\[.*\]$/);
    expect(longer.length / ours.length, path).toBeGreaterThanOrEqual(1.3);
  }
  expect(textAt("en-XA", "states.login_init.title")).toBe("[Šîĝñ îñ one]");
});

test("a mail from right to left starts its tables at the right", () => {
  const write = createMailWriter({ service: "Acme", host: "login.acme.example" });
  const { html } = write({ type: "login", code: "048213", ttlSeconds: 300 }, "ar-XB");
  expect(html).toContain('align="right"');
  expect(html).not.toContain('align="left"');
  expect(html).toMatch(/<p class="code" dir="ltr"[^>]*>048213</);
});
