import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { readCommonPasswords } from "./common-passwords.ts";
import { checkNewPassword, contextWords, type NewPasswordVerdict } from "./password-policy.ts";

const config = loadConfig(
  { STILE_SERVICE_NAME: "Acme Bank", BASE_URL: "https://login.acme.example" },
  "/nonexistent",
);
const rejectionOf = (verdict: NewPasswordVerdict) => (verdict.ok ? null : verdict.reason);

const judge = (password: string, words: string[] = []) =>
  rejectionOf(checkNewPassword(password, { config, contextWords: words }));

describe("length", () => {
  test("counts code points after NFC", () => {
    expect(judge("kväk 7x")).toBe("value_too_short_error");
    expect(judge("kväk 7xz")).toBeNull();
    // Seven characters, eight before normalisation.
    expect(judge("kva\u0308k 7x")).toBe("value_too_short_error");
    expect(judge("🦊🐙🦉🐝🦔🐢🦋")).toBe("value_too_short_error");
    expect(judge("🦊🐙🦉🐝🦔🐢🦋🐳")).toBeNull();
  });

  test("has a maximum, in characters and in bytes", () => {
    expect(judge("ab ".repeat(85))).toBeNull();
    expect(judge(`${"ab ".repeat(85)}xyz`)).toBe("value_too_long_error");
    expect(judge("🦊".repeat(256))).toBeNull();
    expect(judge("x".repeat(1_048_576))).toBe("value_too_long_error");
  });

  test("has the configured minimum of 15", () => {
    const strict = { ...config, password: { ...config.password, min_length: 15 } };
    const judged = (password: string) =>
      rejectionOf(checkNewPassword(password, { config: strict, contextWords: [] }));
    expect(judged("fourteen chars")).toBe("value_too_short_error");
    expect(judged("fifteen  chars!")).toBeNull();
  });

  test("an empty password is too short", () => {
    expect(judge("")).toBe("value_too_short_error");
  });
});

test("accepts white space, any script and any sign, and requires no mixture", () => {
  for (const password of [
    "        x",
    "пароль мой",
    "correct horse",
    "zzqkvwxj",
    "99238471102",
    "\t\n\0\t\n\0\t\n",
  ]) {
    expect(judge(password)).toBeNull();
  }
});

test("A10 rejects a lone surrogate, which would be hashed as another character", () => {
  expect(judge("good enough \ud800")).toBe("value_invalid_error");
});

describe("the list of common passwords", () => {
  test("has at least 3000 passwords of allowed length, in lower case", () => {
    const list = readCommonPasswords();
    expect(list.size).toBeGreaterThan(3000);
    for (const password of list) {
      if (password.length < 8 || password !== password.toLowerCase())
        expect(password).toBe("not in the list");
    }
  });

  test.each(["password", "12345678", "iloveyou", "1q2w3e4r", "PassWord1", "TRUSTNO1"])(
    "rejects %s",
    (password) => {
      expect(judge(password)).toBe("value_invalid_error");
    },
  );

  test("is compared with the whole password: a passphrase may contain an entry", () => {
    expect(judge("my password is a poem")).toBeNull();
  });
});

describe("context words", () => {
  const words = contextWords(config, { username: "carla_b", email: "carla.brown@mail.example" });

  test("are the service's name and host, and the user's names and email address", () => {
    expect(words).toEqual([
      "Acme Bank",
      "login.acme.example",
      "carla_b",
      "carla.brown@mail.example",
      "carla.brown",
    ]);
    expect(contextWords(config, { username: null, email: null })).toEqual([
      "Acme Bank",
      "login.acme.example",
    ]);
  });

  test.each([
    "acme bank",
    "Acme Bank2026!",
    "login.acme.example",
    "CARLA_B1",
    "carla_b99",
    "carla.brown",
    "carla.brown@mail.example",
    "2026Carla.Brown!!",
    "carla.browncarla.brown",
  ])("reject %s", (password) => {
    expect(judge(password, words)).toBe("value_invalid_error");
  });

  test.each(["carla likes bread", "bank of acme street", "unrelated"])("accept %s", (password) => {
    expect(judge(password, words)).toBeNull();
  });

  test("need at least three letters", () => {
    expect(judge("12345al67", ["al"])).toBeNull();
    expect(judge("12345678", ["99"])).toBe("value_invalid_error");
    expect(judge("73917391", ["99"])).toBeNull();
  });
});

test("every rejection has a message", () => {
  for (const password of ["", "short", "x".repeat(300), "password"]) {
    const message = expect.stringMatching(/password .*\.$/i);
    expect(checkNewPassword(password, { config, contextWords: [] })).toMatchObject({ ok: false, message });
  }
});

test("any input gets a verdict, the same in every normal form", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (password) => {
      expect(judge(password.normalize("NFD"))).toBe(judge(password.normalize("NFC")));
    }),
    { numRuns: 500 },
  );
});
