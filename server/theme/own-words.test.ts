import { describe, expect, test } from "vitest";
import { languageTags } from "#words/language-tags";
import { faultsOfWords, textPaths } from "#words/own-texts";
import { MAX_TEXT_CHARACTERS } from "#words/with-texts";
import { wordsOf } from "#words/words-of";
import { loadConfig } from "../config/load.ts";
import { createMailWriter } from "../mail/mail-writer.ts";
import { mailMessages } from "../mail/messages.ts";
import { checkWords } from "./own-words.ts";

const judge = (words: object) =>
  checkWords(loadConfig({ STILE_WORDS: JSON.stringify(words) }, import.meta.dirname));

test("a text of every part of the words is replaced in its language alone, and nothing else", () => {
  const own = {
    de: {
      "states.login_init.title": "Willkommen bei Acme",
      "states.login_init.other.label": "Konto anlegen",
      "confirmation.title": "Freigabe",
      "frame.waiting": "Weiter im Fenster.",
      "mail.messages.login.heading": "Ihr Acme-Code",
      "sms.sms_login": "{code} gilt {minutes} Minuten",
    },
  };
  judge(own);
  const { flow, confirmation, frame, mail, sms, ...others } = wordsOf("de", own);
  const ours = wordsOf("de", {});
  expect(flow.states.login_init.title).toBe("Willkommen bei Acme");
  expect(flow.states.login_init.other).toEqual({
    ...ours.flow.states.login_init.other,
    label: "Konto anlegen",
  });
  expect(flow.states.login_password).toEqual(ours.flow.states.login_password);
  expect(confirmation).toEqual({ ...ours.confirmation, title: "Freigabe" });
  expect(frame).toEqual({ ...ours.frame, waiting: "Weiter im Fenster." });
  expect(mail.messages.login.heading).toBe("Ihr Acme-Code");
  expect(sms).toEqual({ ...ours.sms, sms_login: "{code} gilt {minutes} Minuten" });
  expect(others).toEqual({ name: ours.name, terminal: ours.terminal });
  expect(wordsOf("en", own)).toBe(wordsOf("en", {}));
});

test("a text that several states share is replaced in the one that its path names", () => {
  const { flow } = wordsOf("en", {
    en: { "states.login_security_key.errors.passkey_failed": "Not with this browser." },
  });
  expect(flow.states.login_security_key.errors?.passkey_failed).toBe("Not with this browser.");
  expect(flow.states.login_passkey.variants?.security_key?.errors?.passkey_failed).not.toBe(
    "Not with this browser.",
  );
});

test("every text can be replaced by itself, so all of ours pass our own rules", () => {
  for (const path of [
    "page.signIn",
    "states.login_init.title",
    "mail.validity",
    "confirmation.ends.expired.title",
  ])
    expect(textPaths).toContain(path);
  for (const tag of languageTags) {
    const { flow, confirmation, frame, mail, sms } = wordsOf(tag, {});
    const tree: object = { ...flow, confirmation, frame, mail, sms };
    const at = (path: string) =>
      path.split(".").reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], tree);
    judge({ [tag]: Object.fromEntries(textPaths.map((path) => [path, at(path)])) });
  }
});

describe("a configuration is rejected, with the path of the text,", () => {
  test.each([
    [{ tlh: { "page.signIn": "x" } }, /^words\.tlh is not one of the languages de, en/],
    [{ en: { "page.signin": "x" } }, /^words\.en\.page\.signin is not a text of pages, mails or SMS$/],
    [{ en: { "page.constructor": "x" } }, /is not a text/],
    [{ en: { constructor: "x" } }, /is not a text/],
    [{ en: { "states.login_init": "x" } }, /is not a text/],
    [{ en: { "states.login_init.other.flow": "x" } }, /is not a text/],
    [{ en: { "terminal.yes": "x" } }, /is not a text/],
    [{ en: { "page.signIn": 7 } }, /words\.en\.page\.signIn: .*expected string/],
    [{ en: { page: { signIn: "x" } } }, /words\.en\.page: .*expected string/],
    [{ en: ["x"] }, /words\.en: .*expected record/],
    [{ en: { "page.signIn": " " } }, /must not be empty/],
    [{ en: { "page.signIn": "Sign\nin" } }, /one line without control characters/],
    [{ en: { "page.signIn": "Sign\u0000in" } }, /control characters/],
    [{ en: { "page.signIn": "Sign \u202Ein" } }, /control characters/],
    [{ en: { "page.signIn": "Sign \uD800 in" } }, /control characters/],
    [{ en: { "page.continueAt": "Onward" } }, /page\.continueAt must have the placeholder \{host\}$/],
    [
      { en: { "page.continueAt": "To {host} by {name}" } },
      /has no placeholder \{name\}: it may use \{host\}$/,
    ],
    [{ en: { "page.signIn": "To {host}" } }, /has no placeholder \{host\}$/],
    [{ en: { "page.continueAt": "{host} {host}" } }, /\{host\} once$/],
    [{ en: { "mail.messages.login.subject": "Your code" } }, /must have the placeholder \{code\}$/],
    [
      { en: { "mail.messages.login.heading": "Code {code}" } },
      /cannot be read as an ICU message: it may use \{service\}, \{host\}$/,
    ],
    [{ en: { "mail.validity": "{minutes, plural, one {#}" } }, /cannot be read as an ICU message/],
    [{ en: { "mail.validity": "{minutes, plural, one {# minute}}" } }, /cannot be read as an ICU message/],
  ])("%j", (words, message) => {
    expect(() => judge(words)).toThrow(message);
  });
});

test("a text that is too long is ignored, and longer ones are unfit", () => {
  const text = "x".repeat(MAX_TEXT_CHARACTERS + 1);
  const config = loadConfig({ STILE_WORDS: JSON.stringify({ en: { "page.signIn": text } }) }, "/nowhere");
  expect(config.words).toEqual({ en: {} });
  expect(config.ignored.map(({ line }) => line)).toEqual([
    "words.en.page.signIn: must not be longer than 500 characters; it is ignored",
  ]);
  expect(faultsOfWords({ en: { "page.signIn": text } })).toEqual([
    "words.en.page.signIn must not be longer than 500 characters",
  ]);
});

test("A102 markup, apostrophes and braces of ICU in a text of a mail are text", () => {
  const texts = {
    "mail.messages.login.heading": "It's <b>{service}</b>'s '{host}' <a href=\"x\">",
    "mail.messages.login.request": "d'{service} <script>alert(1)</script> </p>",
  };
  judge({ en: texts });
  const write = createMailWriter({ service: "Acme", host: "login.acme.example", words: { en: texts } });
  const { text, html } = write({ type: "login", code: "048213", ttlSeconds: 300 }, "en");
  expect(text).toContain("It's <b>Acme</b>'s 'login.acme.example' <a href=\"x\">");
  expect(text).toContain("d'Acme <script>alert(1)</script> </p>");
  expect(html).not.toContain("<script");
  expect(html).not.toContain("<b>");
});

test("a text that an update has made unfit is left out of pages and mails", () => {
  const own = { en: { "page.continueAt": "Onward", "mail.validity": "{minutes, plural,", "page.gone": "x" } };
  expect(wordsOf("en", own).flow).toEqual(wordsOf("en", {}).flow);
  const write = createMailWriter({ service: "Acme", host: "login.acme.example", words: own });
  expect(Object.keys(mailMessages)).toContain("login");
  expect(write({ type: "login", code: "048213", ttlSeconds: 300 }, "en").text).toContain(
    "valid for 5 minutes",
  );
});
