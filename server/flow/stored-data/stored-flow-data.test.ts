import { describe, expect, test } from "vitest";
import { type FlowData, type FlowRecord, flowData } from "../data.ts";
import { FLOW_FORMAT, readStoredData, toStoredData } from "./stored-flow-data.ts";

const userId = "00000000-0000-4000-8000-000000000001";
const at = "2026-11-22T05:00:00.000Z";

/** A login as release 0.2.0 stored it: after a password, waiting for a code. */
const of02 = {
  state: "passcode_confirmation",
  data: {
    capabilities: { webauthn: true, conditionalMediation: false, platformAuthenticator: false },
    identifier: { kind: "email", value: "ada@example.com" },
    email: "ada@example.com",
    userId,
    passcode: { purpose: "login", recipient: "ada@example.com", genuine: true },
    creating: "passkey",
    factors: [{ method: "password", at }],
    answered: ["preflight", "login_init"],
    pending: {},
  },
  history: [
    {
      state: "login_method_chooser",
      data: { passcode: { purpose: "recovery", genuine: false }, factors: [], answered: ["preflight"] },
    },
  ],
  payload: { resend_after: 59 },
  problem: {
    code: "form_data_invalid_error",
    inputs: { code: { code: "passcode_invalid" } },
    action: "verify_passcode",
  },
};

const choice = { request: "a request", accounts: [] };

const row = (record: { state: FlowData["completedStates"][number]; data: FlowData; history?: [] }) => ({
  state: record.state,
  ...(JSON.parse(JSON.stringify(toStoredData({ history: [], ...record }))) as {
    data: object;
    history: unknown[];
  }),
  payload: {},
  problem: null,
});

describe("a flow that release 0.2 stored", () => {
  test("keeps its state, what was proven, the code that it waits for and its way back", () => {
    expect(readStoredData(of02)).toEqual({
      ok: true,
      state: "passcode_confirmation",
      data: {
        ...flowData.parse({}),
        capabilities: of02.data.capabilities,
        identifier: of02.data.identifier,
        email: "ada@example.com",
        userId,
        passcode: { purpose: "login", recipient: "ada@example.com", decoy: false },
        credentialKind: "passkey",
        factors: of02.data.factors,
        completedStates: ["preflight", "login_init"],
      },
      history: [
        {
          state: "login_method_chooser",
          data: {
            passcode: { purpose: "recovery", decoy: true },
            factors: [],
            completedStates: ["preflight"],
          },
        },
      ],
      payload: { resend_after: 59 },
      error: of02.problem,
      hasPresentFormat: false,
      hidesSecrets: false,
    });
  });

  test("does not show its recovery codes again", () => {
    const shown = { ...of02, state: "profile_init", data: { ...of02.data, passcode: undefined } };
    expect(readStoredData(shown)).toMatchObject({ ok: true, hidesSecrets: true });
  });

  test("is shown without an error that this version does not have", () => {
    expect(readStoredData({ ...of02, problem: { code: "no_such_error" } })).toMatchObject({
      ok: true,
      error: null,
    });
  });
});

describe("a flow that this version stores", () => {
  const data = flowData.parse({
    passcode: { purpose: "login", recipient: "ada@example.com", decoy: false },
    credentialKind: "security_key",
    lastMethod: { method: "passkey" },
    completedStates: ["preflight", "login_init"],
    userId,
  });

  test("is read as it was written", () => {
    expect(readStoredData(row({ state: "passcode_confirmation", data }))).toMatchObject({ ok: true, data });
  });

  test("has no member that is empty by default, and is read as if it had", () => {
    const stored = row({ state: "login_init", data: flowData.parse({}) });
    expect(stored.data).toEqual({ format: FLOW_FORMAT });
    expect(readStoredData(stored)).toMatchObject({ ok: true, data: flowData.parse({}) });
  });

  test.each<[string, Partial<Pick<FlowRecord, "state" | "data">>]>([
    ["in a state of applications", { state: "account_choice", data: flowData.parse({ choice }) }],
    ["whose application asks for a class", { data: flowData.parse({ classes: ["phr"] }) }],
    ["that ends a session at a provider", { data: flowData.parse({ providerSession: "a session" }) }],
  ])("cannot be read by release 0.3 if it is one %s", (_, change) => {
    const flow = { state: "login_init" as const, data, ...change };
    const stored = row(flow);
    expect(stored.data).toMatchObject({ readableFrom: FLOW_FORMAT });
    expect(readStoredData(stored)).toMatchObject({ ok: true, data: flow.data });
  });

  test("can be read by release 0.3 if it is any other", () => {
    expect(row({ state: "passcode_confirmation", data }).data).not.toHaveProperty("readableFrom");
  });
});

describe("a flow that a later version stored", () => {
  const stored = row({ state: "login_init", data: flowData.parse({}) });

  test("is left alone if this version would read it wrong", () => {
    const later = { ...stored, state: "later_state", data: { format: 7, readableFrom: FLOW_FORMAT + 1 } };
    expect(readStoredData(later)).toEqual({ ok: false, reason: "newer", format: 7 });
  });

  test("goes on here if that version says that this one reads it right", () => {
    const later = { ...stored, data: { ...stored.data, format: 7, readableFrom: FLOW_FORMAT, added: true } };
    expect(readStoredData(later)).toMatchObject({ ok: true, state: "login_init" });
  });
});

test.each([
  ["no data", { data: null }],
  ["a list for data", { data: [] }],
  ["an unknown state", { state: "no_such_state" }],
  ["a factor without its time", { data: { ...of02.data, factors: [{ method: "password" }] } }],
  ["an unknown completed state", { data: { ...of02.data, answered: ["no_such_state"] } }],
  ["a history that is none", { history: {} }],
  ["an entry of the history that is none", { history: [1] }],
  ["a payload that is none", { payload: "text" }],
  ["a format that is no number", { data: { ...of02.data, format: "2" } }],
  ["a state without the data that it needs", { data: { ...of02.data, passcode: undefined } }],
])("a flow with %s is malformed", (_, change) => {
  expect(readStoredData({ ...of02, ...change })).toMatchObject({ ok: false, reason: "malformed" });
});
