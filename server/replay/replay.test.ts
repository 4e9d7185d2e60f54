import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { always, type Condition, not } from "../conditions/condition.ts";
import { configOfImpersonal } from "../config/impersonal-settings.ts";
import type { Config } from "../config/schema.ts";
import { plannedSteps } from "../flow/plan.ts";
import { states } from "../flow/states/index.ts";
import { type Tree, withValueAt } from "../lib/tree.ts";
import { type Bundle, MAX_BUNDLE_CHARACTERS, parseBundle, readBundle } from "./bundle.ts";
import { lineOfReplay, linesOfDifference } from "./difference-text.ts";
import { replay } from "./replay.ts";

/** Bundles that former versions and this one have recorded. */
const folder = join(import.meta.dirname, "bundles");
const names = readdirSync(folder);

const textOf = (name: string) => readFileSync(join(folder, `${name}.json`), "utf8");

function bundleOf(name: string): Bundle {
  const read = parseBundle(textOf(name));
  if ("fault" in read) throw new Error(read.fault);
  return read.bundle;
}

const changed = (bundle: Bundle, changes: Record<string, unknown>): Config =>
  Object.entries(changes).reduce<Tree>(
    (config, [path, value]) => withValueAt(config, path.split("."), value),
    configOfImpersonal(bundle.settings[0]) as unknown as Tree,
  ) as unknown as Config;

test.each(names)("%s, performed again, does not differ", async (file) => {
  const bundle = bundleOf(file.replace(/\.json$/, ""));
  const { differences, steps } = await replay(bundle);
  expect(differences).toEqual([]);
  expect(steps.map(({ now }) => now)).toEqual(steps.map(({ recorded }) => recorded));
});

test("settings that are the same make no difference", async () => {
  const bundle = bundleOf("login-second-factor");
  const replayed = await replay(bundle, changed(bundle, {}));
  expect([replayed.differences, replayed.settings]).toEqual([[], []]);
  expect(lineOfReplay(replayed)).toBe(`no difference in ${bundle.steps.length} steps`);
});

describe("against changed settings, the first difference is", () => {
  test("the state that a setting skips, with the setting and the condition", async () => {
    const bundle = bundleOf("login-second-factor");
    const { first, steps } = await replay(bundle, changed(bundle, { "mfa.enabled": false }));
    expect(first).toMatchObject({
      step: 5,
      kind: "state",
      recorded: "login_otp",
      now: "onboarding_username",
      settings: [{ name: "mfa.enabled", before: true, now: false }],
    });
    expect(first?.decidedNow).toContainEqual({
      name: "!circumstance:second_factor",
      sentence: "The account has no accepted second factor.",
    });
    // What comes after it is another flow.
    expect(steps.slice(5).every(({ now }) => now === null)).toBe(true);
    expect(linesOfDifference(first as never)).toEqual(
      expect.arrayContaining([
        "Step 5: it led to login_otp and leads to onboarding_username",
        "  setting mfa.enabled: true before, false now",
      ]),
    );
  });

  test("the action that a setting withholds", async () => {
    const bundle = bundleOf("login-password");
    const { first } = await replay(bundle, changed(bundle, { "password.enabled": false }));
    expect(first).toMatchObject({
      step: 3,
      kind: "withheld",
      about: "continue_to_password_login",
      decidedNow: [expect.objectContaining({ name: "!setting:password.enabled" })],
      settings: [{ name: "password.enabled", before: true, now: false }],
    });
    const { differences } = await replay(bundle, changed(bundle, { "password.enabled": false }));
    expect(differences).toContainEqual(
      expect.objectContaining({
        step: 4,
        kind: "action",
        about: "continue_to_password_login",
        now: "not offered",
      }),
    );
  });

  test("the inputs of an action that a setting shapes", async () => {
    const bundle = bundleOf("registration");
    const { first } = await replay(bundle, changed(bundle, { "password.min_length": 12 }));
    expect(first).toMatchObject({
      kind: "inputs",
      about: "register_password",
      settings: [{ name: "password.min_length", before: 8, now: 12 }],
    });
  });

  test("a provider that is no longer enabled", async () => {
    const bundle = bundleOf("login-provider");
    const { first } = await replay(bundle, changed(bundle, { "third_party.custom_providers": {} }));
    expect(first).toMatchObject({
      step: 2,
      kind: "withheld",
      about: "thirdparty_oauth",
      decidedNow: [expect.objectContaining({ name: "!circumstance:providers" })],
    });
  });

  test("a reason alone, if nothing else differs", async () => {
    const bundle = bundleOf("login-password");
    const { first } = await replay(bundle, changed(bundle, { "passkey.acquire_on_login": "never" }));
    expect(first).toMatchObject({ kind: "reasons" });
  });
});

describe("a change of a declaration is found:", () => {
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const one of undo.splice(0)) one();
  });

  /** Declares another condition, as a faulty change of the code would. */
  function declare(declared: { when: Condition<never> }, when: Condition<never>) {
    const former = declared.when;
    declared.when = when;
    undo.push(() => {
      declared.when = former;
    });
  }

  test("the condition of a state of the plan", async () => {
    for (const step of plannedSteps.login)
      if (step.state === "login_otp") declare(step as { when: Condition<never> }, not(always));
    const { first } = await replay(bundleOf("login-second-factor"));
    expect(first).toMatchObject({
      step: 5,
      kind: "state",
      recorded: "login_otp",
      now: "onboarding_username",
    });
  });

  test("the condition of an action", async () => {
    declare(states.login_init.actions.webauthn_generate_request_options as never, not(always));
    const { first } = await replay(bundleOf("login-passkey"));
    expect(first).toMatchObject({ step: 2, kind: "withheld", about: "webauthn_generate_request_options" });
  });

  test("an action that is offered without its condition", async () => {
    declare(states.login_init.actions.thirdparty_oauth as never, always as Condition<never>);
    const bundle = bundleOf("login-password");
    const withoutProviders = changed(bundle, { "third_party.custom_providers": {} });
    const { differences } = await replay(bundle, withoutProviders);
    const kinds = differences.flatMap(({ about, kind }) => (about === "thirdparty_oauth" ? kind : []));
    expect(kinds).not.toContain("withheld");
  });
});

describe("A339 what is no bundle is refused with what is wrong:", () => {
  const valid = bundleOf("login-password");

  test.each([
    ["text", "what is this", "The bundle is not JSON."],
    ["another JSON", "[1]", "This is no bundle of a flow: it has no format."],
    ["null", "null", "This is no bundle of a flow: it has no format."],
    [
      "a later format",
      JSON.stringify({ ...valid, format: 2 }),
      "The bundle has the format 2. This version reads the format 1.",
    ],
    ["half a bundle", textOf("login-password").slice(0, 4_000), "The bundle is not JSON."],
    [
      "a further member",
      JSON.stringify({ ...valid, runs: "rm" }),
      expect.stringMatching(/^The bundle is damaged at its root/),
    ],
    [
      "no steps",
      JSON.stringify({ ...valid, steps: [] }),
      expect.stringMatching(/^The bundle is damaged at steps/),
    ],
    [
      "an unknown type of flow",
      JSON.stringify({ ...valid, type: "heist" }),
      expect.stringMatching(/^The bundle is damaged at type/),
    ],
    [
      "settings that are not there",
      JSON.stringify({ ...valid, steps: valid.steps.map((step) => ({ ...step, settings: 9 })) }),
      "The bundle is damaged at steps.0.settings.",
    ],
    [
      "a step that is missing",
      JSON.stringify({ ...valid, steps: valid.steps.toSpliced(2, 1) }),
      "The bundle has no step before step 3.",
    ],
    [
      "no first step",
      JSON.stringify({ ...valid, steps: valid.steps.slice(1) }),
      "The bundle has no step before step 1.",
    ],
  ])("%s", (_, text, fault) => {
    expect(parseBundle(text)).toEqual({ fault });
  });
});

test("A341 a bundle that is too large, or nested too deeply, is refused before it is judged", () => {
  const valid = bundleOf("login-password");
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const text = `${JSON.stringify(valid).slice(0, -1)},"deep":${deep}}`;
  expect(parseBundle(text)).toEqual({ fault: "The bundle is damaged: it is nested too deeply." });
  expect(parseBundle(" ".repeat(MAX_BUNDLE_CHARACTERS + 1))).toEqual({
    fault: `A bundle has at most ${MAX_BUNDLE_CHARACTERS} characters.`,
  });
  const [step] = valid.steps;
  const many = { ...valid, steps: Array.from({ length: 1_001 }, () => step) };
  expect(readBundle(many)).toMatchObject({ fault: expect.stringContaining("damaged at steps") });
});

describe("A340 a made-up bundle has a difference, and performs nothing:", () => {
  const valid = bundleOf("login-password");
  const withStep = (position: number, change: (step: Bundle["steps"][number]) => object): Bundle => ({
    ...valid,
    steps: valid.steps.map((step, index) =>
      index === position ? { ...step, ...change(step) } : step,
    ) as never,
  });

  test("a state that no version has", async () => {
    const bundle = withStep(2, ({ decided_by }) => ({
      decided_by: { ...decided_by, outcome: { to: "backdoor", commits: false, enters: true } },
    }));
    expect((await replay(bundle)).first).toMatchObject({
      step: 3,
      kind: "unknown",
      now: "This version has no state backdoor.",
    });
  });

  test.each(["constructor", "__proto__", "hasOwnProperty", "sudo"])("the action %s", async (action) => {
    const { first } = await replay(withStep(2, () => ({ action })));
    expect(first).toMatchObject({ step: 3, kind: "action", about: action, now: "not offered" });
  });

  test("data of another shape", async () => {
    for (const data of [{ factors: 1 }, { factors: [null] }, { completedStates: "x" }, { pending: [] }]) {
      const bundle = withStep(4, ({ decided_by }) => ({
        decided_by: { ...decided_by, outcome: { to: "NEXT", commits: false, enters: true, data } },
      }));
      expect((await replay(bundle)).first).not.toBeNull();
    }
  });

  test("any value in any place", async () => {
    const strange: unknown[] = [
      null,
      -1,
      1e9,
      "",
      "x".repeat(200),
      [],
      {},
      true,
      "__proto__",
      { constructor: 1 },
    ];
    for (const name of ["login-second-factor", "profile-step-up", "token-exchange"]) {
      const bundle = bundleOf(name);
      const places = placesIn({ steps: bundle.steps, type: bundle.type });
      for (const [index, place] of places.entries()) {
        const made = structuredClone(bundle) as unknown as Tree;
        set(made, place, strange[index % strange.length]);
        const read = readBundle(made);
        if ("bundle" in read)
          expect((await replay(read.bundle)).steps).toHaveLength(read.bundle.steps.length);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

/** The paths of all values. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]));
  return path.length > 0 ? [path, ...below] : below;
}

function set(tree: Tree, [name = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) tree[name] = value;
  else set(tree[name] as Tree, rest, value);
}
