import { simpleParser } from "mailparser";
import { describe, expect, test } from "vitest";
import { languageTags } from "#words/language-tags";
import { mailSamples } from "../preview/message-samples.ts";
import type { MailContent } from "./mail-job.ts";
import { createMailWriter } from "./mail-writer.ts";

const service = "Northwind";
const host = "login.northwind.example";
const write = createMailWriter({ service, host });
const code = "048213";

const contents = Object.values(mailSamples).flat() as MailContent[];

const cases = contents.flatMap((content) =>
  languageTags.map((language) => ({ content, language, type: content.type })),
);

const linkOf = (content: MailContent) => ("link" in content ? (content.link ?? null) : null);

/** Text of a mail without what is the same in every language. */
function wordsOf({ subject, text }: { subject: string; text: string }, content: MailContent): string {
  const address = "address" in content ? content.address : service;
  const { browser = service, place } = content.type === "new_browser" ? content : {};
  return `${subject}\n${text}`
    .replaceAll(linkOf(content) ?? service, "")
    .replaceAll(host, "")
    .replaceAll(address, "")
    .replaceAll(browser, "")
    .replaceAll(place ?? service, "")
    .replaceAll(service, "")
    .toLowerCase();
}

/** Words of three letters and more; names that languages share do not count. */
const longWords = (text: string) =>
  new Set(
    (text.match(/\p{L}{3,}/gu) ?? []).filter((word) => !["passkey", "app", "email", "mail"].includes(word)),
  );

describe.each(cases)("$type in $language", ({ content, language }) => {
  const rendered = write(content, language);

  test("is complete: a one-line subject with the service, text, and the same in HTML", () => {
    expect(rendered.language).toBe(language);
    expect(rendered.subject).toContain(service);
    expect(rendered.subject).not.toMatch(/[\r\n{}]/);
    expect(rendered.text).not.toMatch(/[{}]|undefined/);
    const words = rendered.html
      .replace(/<style>[\s\S]*<\/style>/, "")
      .replace(/<[^>]*>/g, " ")
      .replaceAll("&#39;", "'");
    for (const paragraph of rendered.text.split("\n\n")) {
      if (paragraph !== linkOf(content)) expect(words).toContain(paragraph.replace("-- \n", "").trim());
    }
  });

  test("names language and direction, outside and inside, and a preview line", () => {
    expect(rendered.html).toContain(`<html lang="${language}" dir="ltr">`);
    expect(rendered.html).toContain(`<div lang="${language}" dir="ltr"`);
    const preview = /<div style="display:none[^>]*>([^&]+)&#847;/.exec(rendered.html)?.[1];
    expect(preview?.length).toBeGreaterThan(5);
  });

  test("has nothing of the English mail", () => {
    const own = longWords(wordsOf(rendered, content));
    const english = longWords(wordsOf(write(content, "en"), content));
    const common = [...own].filter((word) => english.has(word));
    // Words that two languages spell alike, such as "code" and "account".
    if (language === "en") expect(common.length).toBeGreaterThan(10);
    else expect(common.length).toBeLessThan(8);
  });

  test("carries the code in subject, text and HTML, or no digits at all", () => {
    if ("code" in content) {
      expect(rendered.subject.startsWith(code)).toBe(true);
      expect(rendered.text).toMatch(/^ +048213$/m);
      expect(rendered.html).toMatch(/<p class="code"[^>]*>048213<\/p>/);
      const minutes = new Intl.NumberFormat(language).format(content.ttlSeconds / 60);
      expect(rendered.text.replace(code, "")).toContain(minutes);
    } else if (content.type === "new_browser") {
      expect(rendered.text).toContain("(UTC)");
      if (content.place) expect(rendered.text).toContain(content.place);
      else expect(rendered.text).not.toMatch(/none|Unknown/);
    } else if (content.type === "impersonation") {
      expect(rendered.text).toContain("(UTC)");
      expect(rendered.text).toContain(new Intl.NumberFormat(language).format(content.minutes));
      expect(rendered.text).toContain(content.reason);
    } else {
      expect(rendered.subject + rendered.text).not.toMatch(/\p{Nd}/u);
    }
  });

  test("loads nothing, links to the page of its code at most, and is not clipped by webmail", () => {
    const link = linkOf(content);
    const anchor = `<a class="strong" href="${link}"`;
    expect(rendered.html.split(anchor)).toHaveLength(link === null ? 1 : 2);
    expect(rendered.text.split("\n").filter((line) => line.includes("://"))).toEqual(
      link === null ? [] : [link],
    );
    expect(rendered.html.replace(anchor, "")).not.toMatch(
      /<(img|script|link|a|iframe|form)\b|url\(|https?:|src=|href=/i,
    );
    // Gmail shows the first 102 KiB.
    expect(Buffer.byteLength(rendered.html)).toBeLessThan(16 * 1024);
  });
});

test.each([
  ["de", "{n} Minute lang", "{n} Minuten lang"],
  ["en", "{n} minute and", "{n} minutes and"],
  ["fr", "{n} minute et", "{n} minutes et"],
  ["it", "{n} minuto e", "{n} minuti e"],
  ["nl", "{n} minuut geldig", "{n} minuten geldig"],
  ["pt-BR", "{n} minuto e", "{n} minutos e"],
  ["bn", "{n} মিনিট কার্যকর", "{n} মিনিট কার্যকর"],
  ["zh", "{n} 分钟内", "{n} 分钟内"],
] as const)(
  "counts minutes in %s, and never promises more than the code's lifetime",
  (language, one, many) => {
    const validity = (ttlSeconds: number) => write({ type: "login", code, ttlSeconds }, language).text;
    const written = (text: string, minutes: number) =>
      text.replace("{n}", new Intl.NumberFormat(language).format(minutes));
    expect(validity(60)).toContain(written(one, 1));
    expect(validity(30)).toContain(written(one, 1));
    expect(validity(179)).toContain(written(many, 2));
    expect(validity(600)).toContain(written(many, 10));
  },
);

test("Chinese has no space after a sentence", () => {
  for (const content of contents) {
    const { text, html } = write(content, "zh");
    expect(text).not.toMatch(/[。，：] /);
    expect(html).not.toMatch(/[。，：] /);
  }
});

test("a notice of a change says what was changed, and what to do if it was not the reader", () => {
  const added = write({ type: "email_create", address: "new@example.com" }, "en");
  expect(added.text).toContain("The email address new@example.com was added to your account at Northwind.");
  expect(added.text).toContain("If that was not you");
  expect(added.text).toContain("Sign in at login.northwind.example");
  expect(added.text).toContain("If that was you, there is nothing to do.");
  expect(write({ type: "password_update" }, "de").text).toContain("Wenn Sie das nicht waren");
});

test.each([
  ["totp", "An authenticator app was set up", "Eine Authenticator-App wurde"],
  ["security_key", "A security key was set up", "Ein Sicherheitsschlüssel wurde"],
  ["authenticator", "A phone was set up", "Ein Telefon wurde"],
  ["recovery_codes", "New recovery codes were set up", "Neue Wiederherstellungscodes wurden"],
  [undefined, "A second factor was set up", "Ein zweiter Faktor wurde"],
] as const)("names the second factor %s", (factor, english, german) => {
  const content: MailContent = { type: "mfa_create", ...(factor ? { factor } : {}) };
  expect(write(content, "en").text).toContain(english);
  expect(write(content, "de").text).toContain(german);
});

describe("A88 a hostile service name", () => {
  const hostile = createMailWriter({
    service: 'Evil\r\nBcc: x@evil.example\r\n\r\n<script>alert(1)</script>"{code}\u202e',
    host: "login.example",
  });

  test("A88 leaves the subject one line without direction marks", () => {
    const { subject } = hostile({ type: "email_login_attempted" }, "en");
    expect(subject).not.toMatch(/[\r\n\u202e]/);
    expect(subject).toContain("Bcc: x@evil.example");
  });

  test("A88 is text in the HTML", () => {
    const { html } = hostile({ type: "login", code, ttlSeconds: 300 }, "en");
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;{code}");
  });

  test("A88 has braces that are not read as placeholders", () => {
    const { text } = hostile({ type: "login", code, ttlSeconds: 300 }, "en");
    expect(text).toContain("{code}");
    expect(text.match(/048213/g)).toHaveLength(1);
  });
});

test("the HTML is readable in programs that ignore styles", async () => {
  const { html } = write({ type: "login", code, ttlSeconds: 300 }, "en");
  const parsed = await simpleParser(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`);
  expect(parsed.text).toContain(code);
});
