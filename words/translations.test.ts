import { describe, expect, test } from "vitest";
import { type Language, languageTags } from "./language-tags.ts";
import { translations } from "./translations.ts";

/** Members that name a flow or a page, and are no texts. */
const references = ["flow", "nextPage"];

/** Every text of a language by its path. */
function texts(node: unknown, path = ""): [string, string][] {
  if (typeof node === "string") return [[path, node]];
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, child]) =>
    references.includes(name) && typeof child === "string" ? [] : texts(child, `${path}/${name}`),
  );
}

const placeholders = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name = ""]) => name).sort();

const english = texts(translations.en);

/** Texts that two languages have in common: loanwords, and names of things. */
const shared = new Set(["Account", "Code", "Email", "Passkey", "Passkeys", "Password", "Name", "No", "no"]);

/** How each language spells the word, with a hyphen that ends no line; none of the other spellings occurs in it. */
const spellings: Record<Language, string> = {
  de: "E\u2011Mail",
  en: "email",
  fr: "e\u2011mail",
  it: "email",
  nl: "e\u2011mail",
  "pt-BR": "e\u2011mail",
  bn: "ইমেইল",
  zh: "邮箱",
};

/** The terms that the platforms use, in the words of every language. */
const terms: Record<
  Language,
  Record<"passkey" | "securityKey" | "authenticatorApp" | "recoveryCode", string>
> = {
  de: {
    passkey: "Passkey",
    securityKey: "Sicherheitsschlüssel",
    authenticatorApp: "Authenticator-App",
    recoveryCode: "Wiederherstellungscode",
  },
  en: {
    passkey: "passkey",
    securityKey: "security key",
    authenticatorApp: "authenticator app",
    recoveryCode: "recovery code",
  },
  fr: {
    passkey: "clé d’accès",
    securityKey: "clé de sécurité",
    authenticatorApp: "application d’authentification",
    recoveryCode: "code de récupération",
  },
  it: {
    passkey: "passkey",
    securityKey: "chiave di sicurezza",
    authenticatorApp: "app di autenticazione",
    recoveryCode: "codice di recupero",
  },
  nl: {
    passkey: "passkey",
    securityKey: "beveiligingssleutel",
    authenticatorApp: "authenticator-app",
    recoveryCode: "herstelcode",
  },
  "pt-BR": {
    passkey: "chave de acesso",
    securityKey: "chave de segurança",
    authenticatorApp: "app autenticador",
    recoveryCode: "código de recuperação",
  },
  bn: {
    passkey: "পাসকী",
    securityKey: "সিকিউরিটি কী",
    authenticatorApp: "অথেন্টিকেটর অ্যাপ",
    recoveryCode: "পুনরুদ্ধার কোড",
  },
  zh: {
    passkey: "通行密钥",
    securityKey: "安全密钥",
    authenticatorApp: "身份验证器应用",
    recoveryCode: "恢复代码",
  },
};

describe.each(languageTags)("the words in %s", (tag) => {
  const words = translations[tag];
  const own = texts(words);

  test("are the texts of English, with the same placeholders", () => {
    const shape = (all: [string, string][]) => all.map(([path, text]) => [path, placeholders(text)]);
    expect(shape(own)).toEqual(shape(english));
  });

  test("have no empty text, and none with space at an end", () => {
    expect(own.filter(([, text]) => text.trim() === "" || text !== text.trim())).toEqual([]);
  });

  test("are translated", () => {
    const sources = new Map(english);
    const same = own.filter(([path, text]) => sources.get(path) === text && !shared.has(text));
    expect(same).toEqual(tag === "en" ? english.filter(([, text]) => !shared.has(text)) : []);
  });

  test("spell the word for mail in one way", () => {
    const spelled = own.flatMap(([, text]) => text.match(/e[-\u2011]?mail|邮箱|ইমে(?:ই)?ল/gi) ?? []);
    expect(new Set(spelled.map((word) => word.toLowerCase()))).toEqual(
      new Set([spellings[tag].toLowerCase()]),
    );
  });

  test("name passkeys, security keys, authenticator apps and recovery codes as the platforms do", () => {
    const { flow, mail } = words;
    const said = (text: string | undefined) => text?.toLowerCase() ?? "";
    const { passkey, securityKey, authenticatorApp, recoveryCode } = terms[tag];
    expect(said(flow.page.passkey)).toBe(passkey.toLowerCase());
    expect(said(flow.page.securityKey)).toBe(securityKey.toLowerCase());
    expect(said(flow.page.authenticatorApp)).toBe(authenticatorApp.toLowerCase());
    expect(said(flow.inputs.recovery_code.label)).toBe(recoveryCode.toLowerCase());
    expect(said(flow.actions.webauthn_credential_create.label)).toContain(passkey.toLowerCase());
    expect(said(flow.actions.security_key_create.label)).toContain(securityKey.toLowerCase());
    expect(said(flow.states.mfa_otp_secret_creation.title)).toContain(authenticatorApp.toLowerCase());
    expect(said(mail.messages.passkey_create.event)).toContain(passkey.toLowerCase());
    expect(said(mail.messages.recovery_code_use.heading)).toContain(recoveryCode.toLowerCase());
    for (const event of [mail.messages.mfa_create.event, mail.messages.mfa_delete.event])
      for (const term of [authenticatorApp, securityKey]) expect(said(event)).toContain(term.toLowerCase());
  });

  test("have no straight apostrophe in mails, which ICU reads as a quotation", () => {
    expect(texts(words.mail).filter(([, text]) => text.includes("'"))).toEqual([]);
  });

  test("have a plural form for each category that one hour of minutes has", () => {
    const rules = new Intl.PluralRules(tag);
    const needed = new Set(Array.from({ length: 60 }, (_, index) => rules.select(index + 1)));
    const branches = new Set(
      [...words.mail.validity.matchAll(/(one|two|few|many|other) \{/g)].map(([, category]) => category),
    );
    expect(branches).toEqual(new Set([...needed, "other"]));
  });
});

test("each language is named in itself", () => {
  const names = languageTags.map((tag) => translations[tag].name);
  expect(names).toEqual([
    "Deutsch",
    "English",
    "Français",
    "Italiano",
    "Nederlands",
    "Português (Brasil)",
    "বাংলা",
    "中文",
  ]);
});
