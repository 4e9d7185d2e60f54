import { describe, expect, test } from "vitest";
import { type FlowData, flowData } from "../data.ts";
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

const row = (record: { state: FlowData["completedStates"][number]; data: FlowData; history?: [] }) => ({
  state: record.state,
  ...(JSON.parse(JSON.stringify(toStoredData({ history: [], ...record }))) as {
    data: object;
    history: unknown[];
  }),
  payload: {},
  problem: null,
});

/** As release 0.2 reads it: it drops what it does not know. */
const rewrittenBy02 = (data: object) => {
  const known = [
    "capabilities",
    "rememberMe",
    "identifier",
    "email",
    "username",
    "userId",
    "passcode",
    "factors",
  ];
  const others = [
    "signedUp",
    "returnTo",
    "creating",
    "enrolled",
    "answered",
    "pending",
    "recovering",
    "emailVerified",
  ];
  return Object.fromEntries(Object.entries(data).filter(([name]) => [...known, ...others].includes(name)));
};

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

  test("bears the names of release 0.2, and is read right after that has written it", () => {
    const stored = row({ state: "passcode_confirmation", data });
    expect(stored.data).toMatchObject({
      answered: ["preflight", "login_init"],
      creating: "security_key",
      passcode: { genuine: true },
    });
    const { lastMethod, ...kept } = data;
    const read = readStoredData({ ...stored, data: rewrittenBy02(stored.data) });
    expect(read).toMatchObject({ ok: true, data: kept });
  });

  test("has no member that is empty by default, and is read as if it had", () => {
    const stored = row({ state: "login_init", data: flowData.parse({}) });
    expect(stored.data).toEqual({ format: FLOW_FORMAT });
    expect(readStoredData(stored)).toMatchObject({ ok: true, data: flowData.parse({}) });
  });

  test("A164 cannot be read by release 0.2 if its session is for the holder of a verifier", () => {
    const stored = row({ state: "login_init", data: { ...data, codeChallenge: "a challenge" } });
    expect(stored.data).toMatchObject({ answered: null, readableFrom: FLOW_FORMAT });
    expect(readStoredData(stored)).toMatchObject({ ok: true, data: { codeChallenge: "a challenge" } });
  });

  test("A130 cannot be read by release 0.2 while its user reauthenticates at a provider", () => {
    const there = row({ state: "thirdparty", data: { ...data, steppingUp: true } });
    expect(there.data).toMatchObject({ answered: null, readableFrom: FLOW_FORMAT });
    expect(readStoredData(there)).toMatchObject({ ok: true, data: { steppingUp: true } });
    for (const stored of [
      row({ state: "login_password", data: { ...data, steppingUp: true } }),
      row({ state: "thirdparty", data }),
    ]) {
      expect(stored.data).toMatchObject({ answered: data.completedStates });
      expect(stored.data).not.toHaveProperty("readableFrom");
    }
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
