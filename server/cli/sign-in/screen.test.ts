import { describe, expect, test } from "vitest";
import { translations } from "#words/translations";
import type { ActionDescriptor, FlowState } from "../../flow/wire.ts";
import { promptOf, screenOf } from "./screen.ts";

const words = translations.en;

const action = (name: string, inputs: ActionDescriptor["inputs"] = {}): ActionDescriptor => ({
  action: name,
  href: `/login?action=${name}%40id`,
  description: `Does ${name}.`,
  inputs,
});

const state = (name: string, actions: ActionDescriptor[], payload = {}): FlowState => ({
  name,
  status: 200,
  payload,
  csrf_token: "",
  actions: Object.fromEntries(actions.map((one) => [one.action, one])),
  links: null,
});

describe("screenOf", () => {
  test("draws an unknown state and an unknown action by their names and descriptions", () => {
    const input = { name: "house_number", type: "number" as const, required: true };
    const unknown = state("ask_address", [action("confirm_home_address", { house_number: input })]);
    const { lines, first } = screenOf(unknown, words, null, "en");
    expect(lines).toEqual(["Ask address\n───────────"]);
    expect(first).toMatchObject({ label: "Confirm home address", hint: "Does confirm_home_address." });
    expect(first?.asked).toEqual([input]);
  });

  test("says that passkeys need a browser, and offers none", () => {
    const needsPasskey = state("login_passkey", [
      action("webauthn_verify_assertion_response", {
        assertion_response: { name: "assertion_response", type: "json", required: true },
      }),
      action("back"),
    ]);
    const { lines, choices } = screenOf(needsPasskey, words, null, "en");
    expect(lines.at(-1)).toBe("Passkeys and security keys do not work in a terminal.");
    expect(choices.map(({ label }) => label)).toEqual(["Back"]);
  });

  test("offers each value of a choice, and fixes hidden inputs", () => {
    const provider = {
      name: "provider",
      type: "string" as const,
      required: true,
      allowed_values: [
        { name: "Acme", value: "custom_acme" },
        { name: "Other", value: "custom_other" },
      ],
    };
    const hidden = { name: "kind", type: "string" as const, hidden: true, required: true, value: "a" };
    const { choices, first } = screenOf(
      state("login_init", [action("thirdparty_oauth", { provider, kind: hidden })]),
      words,
      null,
      "en",
    );
    expect(choices.map(({ label, fixed }) => [label, fixed])).toEqual([
      ["Continue with Acme", { kind: "a", provider: "custom_acme" }],
      ["Continue with Other", { kind: "a", provider: "custom_other" }],
    ]);
    expect(first).toBeNull();
  });

  test("does not offer an action whose hidden input it cannot fill in, nor an alias", () => {
    const id = { name: "id", type: "string" as const, hidden: true, required: true };
    const alias = { ...action("also_back"), alias_of: "back" };
    const shown = screenOf(
      state("login_init", [action("remove", { id }), action("back"), alias]),
      words,
      null,
      "en",
    );
    expect(shown.choices.map(({ action: { action: name } }) => name)).toEqual(["back"]);
  });

  test.each([
    ["ada@example.org", "en", "We sent a code of six digits to ada@example.org. It is good for 5 minutes."],
    [null, "en", "We sent you a code of six digits. It is good for 5 minutes."],
    ["ada@example.org", "de", /5 Minuten/],
  ] as const)("says to %s how long a code is good, in %s", (subject, language, sentence) => {
    const sent = state("passcode_confirmation", [action("back")], { code_lifetime: 300 });
    const { lines } = screenOf(sent, translations[language], subject, language);
    expect(lines[1]).toEqual(typeof sentence === "string" ? sentence : expect.stringMatching(sentence));
  });
});

test("A111 text of the server cannot steer the terminal", () => {
  const hostile = "Acme\u001b]0;owned\u0007\u001b[2J\r\n\u202ecod.exe\u2066\u061c\u009b";
  const error = { code: hostile, message: "" };
  const input = {
    name: hostile,
    type: "string" as const,
    required: true,
    error: { code: hostile, message: hostile },
  };
  const choice = { ...input, name: "choice", allowed_values: [{ name: hostile, value: 1 }] };
  const unknown = {
    ...state(hostile, [action(hostile, { input }), action("choose", { choice }), action("back")], {
      recovery_codes: [hostile],
      otp_secret: hostile,
    }),
    error,
  };
  const { lines, choices } = screenOf(unknown, words, hostile, "en");
  const shown = [
    ...lines.flatMap((line) => line.split("\n")),
    ...choices.flatMap(({ label, hint = "", asked }) => [
      label,
      hint,
      ...asked.map((one) => promptOf(one, words)),
    ]),
  ];
  expect(shown.join("")).toContain("\\u001b]0;owned");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not occur
  expect(shown.filter((line) => /[\u0000-\u001f\u007f-\u009f\u061c\u202e\u2066]/.test(line))).toEqual([]);
});
