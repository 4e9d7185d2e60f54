import fc from "fast-check";
import { expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { advance, MAX_HISTORY_ENTRIES } from "./advance.ts";
import { type FlowRecord, flowData } from "./data.ts";
import { type Facts, noFacts } from "./facts.ts";
import { NEXT, stateNames } from "./names.ts";
import { go, goBack, next, reject, stay } from "./outcome.ts";

const facts: Facts = { ...noFacts, hasPasskey: true, email: "ada@example.com", emailVerified: true };
const situation = { facts, config: loadConfig({}, "/nowhere") };

function flow(overrides: Partial<FlowRecord> = {}): FlowRecord {
  return {
    id: "3f0a4c9e-0000-4000-8000-000000000002",
    type: "login",
    state: "login_init",
    version: 3,
    data: flowData.parse({ completedStates: ["preflight"] }),
    history: [],
    payload: {},
    secrets: {},
    wanted: null,
    ...overrides,
  };
}

const factor = { method: "password" as const, at: "2026-01-01T00:00:00.000Z" };

test("go records the previous state and its data in the history", () => {
  const before = flow();
  const { record } = advance(before, go("login_password", { data: { email: "ada@example.com" } }), situation);
  expect(record).toMatchObject({ state: "login_password", data: { email: "ada@example.com" } });
  expect(record.history).toEqual([
    { state: "login_init", data: expect.not.objectContaining({ email: expect.anything() }) },
  ]);
});

test("goBack restores the previous state and its data", () => {
  const before = flow();
  const advanced = advance(
    before,
    go("login_password", { data: { email: "ada@example.com" } }),
    situation,
  ).record;
  const { record } = advance(advanced, goBack(), situation);
  expect(record.state).toBe("login_init");
  expect(record.data).toEqual(before.data);
  expect(record.history).toEqual([]);
});

test("goBack keeps the members in keptOnBack, and the history contains no secret", () => {
  const before = flow({ type: "registration", state: "registration_init" });
  const pending = { passwordHash: "$argon2id$…" };
  const advanced = advance(before, go("password_creation", { data: { pending } }), situation).record;
  const later = advance(advanced, go("onboarding_create_passkey"), situation).record;
  expect(JSON.stringify(later.history)).not.toContain("argon2id");
  expect(advance(later, goBack(), situation).record.data.pending).toEqual(pending);
});

test("next clears the history", () => {
  const before = flow({
    state: "login_password",
    history: [{ state: "login_init", data: flowData.parse({}) }],
  });
  const { record } = advance(before, next({ data: { factors: [factor] } }), situation);
  expect(record).toMatchObject({ state: "success", history: [] });
});

test("next plans with the facts that the step changes", () => {
  const before = flow({ state: "login_password" });
  const without = { ...situation, facts: { ...facts, hasPasskey: false } };
  const data = {
    factors: [factor],
    capabilities: { webauthn: true, conditionalMediation: false, platformAuthenticator: false },
  };
  expect(advance(before, next({ data }), without).record.state).toBe("onboarding_create_passkey");
  expect(advance(before, next({ data, facts: { hasPasskey: true } }), without).record.state).toBe("success");
});

test("next records the state as completed", () => {
  const before = flow({ state: "preflight", data: flowData.parse({}) });
  const { record } = advance(before, go(NEXT), situation);
  expect(record.data.completedStates).toEqual(["preflight"]);
});

test("stay changes only the data, and enters the state again", () => {
  const before = flow();
  const { record, enters } = advance(before, stay({ data: { rememberMe: true } }), situation);
  expect(record).toEqual({ ...before, data: { ...before.data, rememberMe: true } });
  expect(enters).toBe(true);
});

test("reject changes nothing, and enters the state only with renew", () => {
  const before = flow();
  expect(advance(before, reject("passkey_invalid"), situation)).toMatchObject({
    record: before,
    enters: false,
  });
  expect(advance(before, reject("passkey_invalid", { renew: true }), situation)).toMatchObject({
    record: before,
    enters: true,
  });
});

test("a member set to undefined is removed", () => {
  const before = flow({ data: flowData.parse({ email: "ada@example.com" }) });
  const { record } = advance(before, stay({ data: { email: undefined } }), situation);
  expect(Object.hasOwn(record.data, "email")).toBe(false);
});

test("go to a state in the history returns to it", () => {
  const first = advance(flow(), go("login_method_chooser"), situation).record;
  const second = advance(first, go("login_password"), situation).record;
  const again = advance(second, go("login_method_chooser"), situation).record;
  expect(again.history.map(({ state }) => state)).toEqual(["login_init"]);
});

test("any sequence keeps the history bounded, without duplicates, and leads back to the start", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...stateNames), { maxLength: 60 }), (walk) => {
      let record = flow();
      for (const state of walk) {
        record = advance(record, go(state), situation).record;
        const names = record.history.map((entry) => entry.state);
        expect(names.length).toBeLessThanOrEqual(MAX_HISTORY_ENTRIES);
        expect(new Set([...names, record.state]).size).toBe(names.length + 1);
      }
      while (record.history.length > 0) record = advance(record, goBack(), situation).record;
    }),
  );
});

test("next in a profile flow keeps the profile page in the history, and clears it on arrival", () => {
  const account = flow({ type: "profile", state: "profile_init" });
  const reauthenticating = advance(
    account,
    go("login_password", { data: { steppingUp: true } }),
    situation,
  ).record;
  const facts = { ...situation.facts, hasTotp: true };
  const reauthenticated = advance(reauthenticating, next({ data: { factors: [factor] } }), {
    ...situation,
    facts,
  }).record;
  expect(reauthenticated.state).toBe("login_otp");
  expect(reauthenticated.history.map(({ state }) => state)).toEqual(["profile_init"]);
  expect(advance(reauthenticated, goBack(), situation).record).toMatchObject({
    state: "profile_init",
    data: { factors: [] },
  });
  const shown = advance(
    reauthenticated,
    next({ data: { factors: [factor, { ...factor, method: "totp" }] } }),
    situation,
  );
  expect(shown.record).toMatchObject({ state: "profile_init", history: [] });
});
