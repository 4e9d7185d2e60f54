import { simpleParser } from "mailparser";
import { describe, expect, test } from "vitest";
import { type Language, languageTags } from "#words/language-tags";
import type { MailContent } from "./mail-job.ts";
import { createMailWriter } from "./mail-writer.ts";

const service = "Northwind";
const write = createMailWriter({ service, host: "login.northwind.example" });
const code = "048213";

const contents: MailContent[] = [
  { type: "login", code, ttlSeconds: 300 },
  { type: "recovery", code, ttlSeconds: 300 },
  { type: "email_verification", code, ttlSeconds: 300 },
  { type: "email_login_attempted" },
  { type: "email_registration_attempted" },
  { type: "email_create", address: "new@example.com" },
  { type: "email_delete", address: "old@example.com" },
  { type: "primary_email_update", address: "new@example.com" },
  { type: "password_update" },
  { type: "password_delete" },
  { type: "passkey_create" },
  { type: "passkey_delete" },
  { type: "mfa_create", factor: "totp" },
  { type: "mfa_delete" },
];

const cases = contents.flatMap((content) =>
  languageTags.map((language) => ({ content, language, type: content.type })),
);

describe.each(cases)("$type in $language", ({ content, language }) => {
  const rendered = write(content, language);

  test("is complete: a one-line subject with the service, text, and the same in HTML", () => {
    expect(rendered.subject).toContain(service);
    expect(rendered.subject).not.toMatch(/[\r\n{}]/);
    expect(rendered.text).not.toMatch(/[{}]|undefined/);
    expect(rendered.html).toContain(`<html lang="${rendered.language}"`);
    const words = rendered.html.replace(/<style>[\s\S]*<\/style>/, "").replace(/<[^>]*>/g, " ");
    for (const paragraph of rendered.text.split("\n\n")) {
      const line = paragraph.replace("-- \n", "").trim();
      expect(words).toContain(line.replaceAll("'", "&#39;"));
    }
  });

  test("carries the code in subject, text and HTML, or no digits at all", () => {
    if ("code" in content) {
      expect(rendered.subject.startsWith(code)).toBe(true);
      expect(rendered.text).toMatch(/^ +048213$/m);
      expect(rendered.html).toMatch(/<p class="code"[^>]*>048213<\/p>/);
      expect(rendered.text).toContain("5");
    } else {
      expect(rendered.subject + rendered.text).not.toMatch(/\d/);
    }
  });

  test("loads nothing and links nowhere", () => {
    expect(rendered.html).not.toMatch(/<(img|script|link|a|iframe|form)\b|url\(|https?:|src=|href=/i);
  });
});

test("is in German on request, and in English for languages without words", () => {
  expect(write({ type: "login", code, ttlSeconds: 300 }, "de")).toMatchObject({
    language: "de",
    subject: "048213 ist Ihr Anmeldecode für Northwind",
  });
  const unknown = languageTags.filter((language) => language !== "de" && language !== "en");
  for (const language of unknown) {
    expect(write({ type: "login", code, ttlSeconds: 300 }, language)).toEqual(
      write({ type: "login", code, ttlSeconds: 300 }, "en"),
    );
  }
});

test("says one minute in the singular, and never promises more than the code's lifetime", () => {
  const validity = (ttlSeconds: number, language: Language) =>
    write({ type: "login", code, ttlSeconds }, language).text;
  expect(validity(60, "en")).toContain("1 minute and");
  expect(validity(60, "de")).toContain("1 Minute lang");
  expect(validity(179, "en")).toContain("2 minutes");
  expect(validity(600, "de")).toContain("10 Minuten");
});

test("a notice of a change says what was changed, and what to do if it was not the reader", () => {
  const added = write({ type: "email_create", address: "new@example.com" }, "en");
  expect(added.text).toContain("The e-mail address new@example.com was added to your account at Northwind.");
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
