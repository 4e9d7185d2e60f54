import { describe, expect, test } from "vitest";
import { type Language, languageTags } from "#words/language-tags";
import { gsmLength } from "./gsm-alphabet.ts";
import { smsPurposes } from "./sms-job.ts";
import { writeSms } from "./sms-writer.ts";

const content = { type: "sms_login", code: "048213", ttlSeconds: 300, host: "login.example.com" } as const;

/** Languages that are not written with the GSM 7-bit alphabet. */
const otherScripts: readonly Language[] = ["bn", "zh"];

describe.each(languageTags)("an SMS in %s", (language) => {
  test.each(smsPurposes)(
    "%s names service, code and minutes, and ends with the line for browsers",
    (type) => {
      const sms = writeSms({ ...content, type }, language, { service: "Acme" });
      const [text, last, ...others] = sms.split("\n");
      expect(others).toEqual([]);
      expect(last).toBe("@login.example.com #048213");
      expect(text).toContain("Acme");
      expect(text).toContain("048213");
      expect(text).toMatch(new RegExp(new Intl.NumberFormat(language).format(5)));
      expect(sms).not.toMatch(/[{}]/);
    },
  );

  test.each(smsPurposes)("%s fits into one, or in another script into two", (type) => {
    const longest = {
      ...content,
      type,
      ttlSeconds: 600,
      host: "login.of-32-characters.example.x",
    };
    const sms = writeSms(longest, language, { service: "An exceedingly long name of a service" });
    if (otherScripts.includes(language)) expect(sms.length).toBeLessThanOrEqual(2 * 67);
    else expect(gsmLength(sms)).toBeLessThanOrEqual(160);
  });

  test("three purposes have three texts", () => {
    const texts = smsPurposes.map((type) => writeSms({ ...content, type }, language, { service: "Acme" }));
    expect(new Set(texts).size).toBe(3);
  });
});

test.each([
  ["Crédit Noël", "Crédit Noel"],
  ["Żabka", "Zabka"],
  ["বাংলা সেবা", "বাংলা সেবা"],
  ["हिन्दी", "हिन्दी"],
  ["ไทยพาณิชย์", "ไทยพาณิชย์"],
  ["שָׁלוֹם", "שָׁלוֹם".normalize("NFC")],
])("%s is named %s: marks are left out of Latin letters alone", (service, name) => {
  expect(writeSms(content, "en", { service })).toContain(`your ${name} sign-in`);
});

test("an SMS without a known host has one line", () => {
  expect(writeSms({ ...content, host: null }, "en", { service: "Acme" })).toBe(
    "048213 is your Acme sign-in code, valid for 5 minutes. Do not share it.",
  );
});

test("promises no more minutes than the code lives", () => {
  const said = (ttlSeconds: number) => writeSms({ ...content, ttlSeconds }, "en", { service: "Acme" });
  expect(said(119)).toContain("valid for 1 minute.");
  expect(said(120)).toContain("valid for 2 minutes.");
  expect(said(30)).toContain("valid for 1 minute.");
});

describe("A172 the name of the service adds no line, and no code for browsers", () => {
  test.each([
    ["Acme\n@evil.example #111111", "Acme @evil.example #1111"],
    ["Acme\r\u2028\u202eemca", "Acme emca"],
    ["Garçon’s Café", "Garcon's Café"],
    ["名称", "名称"],
  ])("%j", (service, shown) => {
    const lines = writeSms(content, "en", { service }).split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe("@login.example.com #048213");
    expect(lines[0]).toContain(shown.slice(0, 17));
  });

  test("braces in it are no message syntax", () => {
    expect(writeSms(content, "en", { service: "{code} {x}" })).toContain("your {code} {x} sign-in");
  });
});

test("an operator's own text replaces ours", () => {
  const words = { de: { "sms.sms_login": "{service}: {code} gilt {minutes}'" } };
  expect(writeSms(content, "de", { service: "Acme", words })).toBe(
    "Acme: 048213 gilt 5'\n@login.example.com #048213",
  );
});
