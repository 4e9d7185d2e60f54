import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holds, reasonsOf } from "../conditions/condition.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { type FlowData, flowData } from "./data.ts";
import type { Action } from "./define.ts";
import { type Facts, noFacts } from "./facts.ts";
import { type FlowType, flowTypes, type StateName, stateNames } from "./names.ts";
import { canSkip, nextState, plan, plannableStates, plannedSteps } from "./plan.ts";
import { sentenceOf } from "./reasons.ts";
import type { Situation } from "./situation.ts";
import { states } from "./states/index.ts";

const capable = { webauthn: true, conditionalMediation: true, platformAuthenticator: true };
const ada: Facts = { ...noFacts, email: "ada@example.com", emailVerified: true };

/** `second-factor.test.ts` covers second factors. */
function config(environment: Record<string, string> = {}): Config {
  return loadConfig({ STILE_MFA_ENABLED: "false", ...environment }, "/nowhere");
}

function afterFirstFactor(
  overrides: Partial<Omit<Situation, "data">> & { data?: Partial<FlowData> } = {},
): Situation {
  const { data, ...rest } = overrides;
  return {
    type: "login",
    config: config(),
    facts: ada,
    ...rest,
    data: flowData.parse({
      capabilities: capable,
      completedStates: ["preflight"],
      factors: [{ method: "password", at: "2026-01-01T00:00:00.000Z" }],
      userId: "3f0a4c9e-0000-4000-8000-000000000001",
      ...data,
    }),
  };
}

function registering(
  overrides: Partial<Omit<Situation, "data">> & { data?: Partial<FlowData> } = {},
): Situation {
  const situation = afterFirstFactor(overrides);
  return { ...situation, type: "registration", data: { ...situation.data, factors: [] } };
}

describe("a login", () => {
  test("starts with preflight, then identifies the user", () => {
    const data = flowData.parse({});
    expect(plan({ type: "login", data, facts: noFacts, config: config() })).toEqual([
      "preflight",
      "login_init",
    ]);
  });

  test("lets the user choose an account of the browser, where an application asks for that", () => {
    const choice = { request: "request", accounts: [{ key: "session", name: "ada@example.com" }] };
    const situation = afterFirstFactor({ data: { choice } });
    expect(plan({ ...situation, data: { ...situation.data, factors: [] } })).toEqual([
      "account_choice",
      "login_init",
    ]);
    expect(plan(situation)).not.toContain("account_choice");
  });

  test("ends at login_init until a first factor is verified", () => {
    const situation = afterFirstFactor();
    expect(plan({ ...situation, data: { ...situation.data, factors: [] } })).toEqual(["login_init"]);
  });

  test("replaces a forgotten password first", () => {
    expect(plan(afterFirstFactor({ data: { recovering: true } }))[0]).toBe("login_password_recovery");
  });

  test("asks for a missing username, then a missing address", () => {
    const situation = afterFirstFactor({
      facts: { ...noFacts, hasPasskey: true },
      config: config({ STILE_USERNAME_ENABLED: "true" }),
    });
    expect(plan(situation)).toEqual(["onboarding_username", "onboarding_email", "success"]);
  });

  test("asks for neither again after a skip", () => {
    const situation = afterFirstFactor({
      facts: { ...noFacts, hasPasskey: true },
      config: config({ STILE_USERNAME_ENABLED: "true" }),
      data: { completedStates: ["preflight", "onboarding_username", "onboarding_email"] },
    });
    expect(plan(situation)).toEqual(["success"]);
  });
});

describe("a registration", () => {
  test("asks for the code before anything is created", () => {
    expect(plan(registering({ facts: noFacts, data: { email: "ada@example.com" } }))).toEqual([
      "passcode_confirmation",
      "password_creation",
      "onboarding_create_passkey",
      "success",
    ]);
  });

  test("asks for no code if verification is not required", () => {
    const situation = registering({
      data: { email: "ada@example.com" },
      config: config({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" }),
    });
    expect(plan(situation)).not.toContain("passcode_confirmation");
  });
});

type Acquire = "always" | "conditional" | "never";
type Owned = "neither" | "passkey" | "password" | "both";

/** Passkey policy, password policy, credentials of the account → planned states. */
const policies: [Acquire, Acquire, Owned, StateName[]][] = [
  ["always", "always", "neither", ["password_creation", "onboarding_create_passkey"]],
  ["always", "always", "passkey", ["password_creation"]],
  ["always", "always", "password", ["onboarding_create_passkey"]],
  ["always", "always", "both", []],
  ["always", "conditional", "neither", ["onboarding_create_passkey"]],
  ["always", "conditional", "password", ["onboarding_create_passkey"]],
  ["always", "conditional", "passkey", []],
  ["conditional", "always", "neither", ["password_creation"]],
  ["conditional", "always", "passkey", ["password_creation"]],
  ["conditional", "always", "password", []],
  ["conditional", "conditional", "neither", ["credential_onboarding_chooser"]],
  ["conditional", "conditional", "passkey", []],
  ["conditional", "conditional", "password", []],
  ["conditional", "never", "neither", ["onboarding_create_passkey"]],
  ["conditional", "never", "password", []],
  ["never", "conditional", "neither", ["password_creation"]],
  ["never", "conditional", "passkey", []],
  ["never", "always", "passkey", ["password_creation"]],
  ["never", "always", "password", []],
  ["always", "never", "password", ["onboarding_create_passkey"]],
  ["always", "never", "passkey", []],
  ["never", "never", "neither", []],
];

describe.each([
  { situation: afterFirstFactor, suffix: "ACQUIRE_ON_LOGIN", flow: "login" },
  { situation: registering, suffix: "ACQUIRE_ON_REGISTRATION", flow: "registration" },
])("credentials at $flow", ({ situation, suffix }) => {
  test.each(policies)(
    "passkey policy %s, password policy %s, existing credentials %s: plans %j",
    (passkey, password, owned, expected) => {
      const planned = situation({
        config: config({ [`STILE_PASSKEY_${suffix}`]: passkey, [`STILE_PASSWORD_${suffix}`]: password }),
        facts: {
          ...ada,
          hasPasskey: owned === "passkey" || owned === "both",
          hasPassword: owned === "password" || owned === "both",
        },
      });
      expect(plan(planned)).toEqual([...expected, "success"]);
    },
  );

  test("asks for a passkey first if the password is optional", () => {
    const planned = situation({
      config: config({
        [`STILE_PASSKEY_${suffix}`]: "always",
        [`STILE_PASSWORD_${suffix}`]: "always",
        STILE_PASSWORD_OPTIONAL: "true",
      }),
    });
    expect(plan(planned)).toEqual(["onboarding_create_passkey", "password_creation", "success"]);
  });

  test("asks for a conditional password after a skipped passkey", () => {
    const planned = situation({
      config: config({ [`STILE_PASSKEY_${suffix}`]: "always", [`STILE_PASSWORD_${suffix}`]: "conditional" }),
      data: { completedStates: ["preflight", "onboarding_create_passkey"] },
    });
    expect(plan(planned)).toEqual(["password_creation", "success"]);
  });

  test("never asks a client without WebAuthn for a passkey", () => {
    const planned = situation({
      config: config({ [`STILE_PASSKEY_${suffix}`]: "always", [`STILE_PASSWORD_${suffix}`]: "conditional" }),
      data: { capabilities: { ...capable, webauthn: false } },
    });
    expect(plan(planned)).toEqual(["password_creation", "success"]);
  });
});

describe("skipping", () => {
  const optional = {
    STILE_USERNAME_ENABLED: "true",
    STILE_PASSWORD_OPTIONAL: "true",
    STILE_PASSKEY_OPTIONAL: "true",
  };

  test("is allowed if the user can sign in with a mailed code", () => {
    const situation = registering({ config: config(optional) });
    expect(canSkip(situation, "onboarding_create_passkey")).toBe(true);
  });

  test("is rejected if no login method would remain", () => {
    const situation = registering({
      facts: { ...noFacts, username: "ada" },
      config: config({ ...optional, STILE_PASSWORD_ENABLED: "false" }),
    });
    expect(canSkip(situation, "onboarding_create_passkey")).toBe(false);
  });

  test("is allowed if another login method is still planned", () => {
    const situation = registering({ facts: { ...noFacts, username: "ada" }, config: config(optional) });
    expect(plan(situation)).toEqual(["onboarding_create_passkey", "password_creation", "success"]);
    expect(canSkip(situation, "onboarding_create_passkey")).toBe(true);
    const later = registering({
      facts: { ...noFacts, username: "ada" },
      config: config(optional),
      data: { completedStates: ["preflight", "onboarding_create_passkey"] },
    });
    expect(canSkip(later, "password_creation")).toBe(false);
  });

  test("is not offered in a state that the user chose", () => {
    const both = {
      STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
      STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
    };
    const situation = registering({ config: config({ ...optional, ...both }) });
    expect(canSkip(situation, "credential_onboarding_chooser")).toBe(true);
    expect(canSkip(situation, "password_creation")).toBe(false);
  });
});

const policy = fc.constantFrom("always", "conditional", "never" as const);
const flag = fc.boolean();
const mostly = fc.constantFrom(true, true, true, false);
const base = config();

const anyCredential = fc.record({
  enabled: flag,
  optional: flag,
  acquire_on_login: policy,
  acquire_on_registration: policy,
});

/** Arbitrary values of the settings that shape a plan. */
const anyConfig = fc
  .record({
    passkey: anyCredential,
    password: anyCredential,
    username: fc.record({ enabled: flag }),
    email: fc.record({ enabled: flag, require_verification: flag, use_for_authentication: flag }),
    phone: fc.record({ enabled: flag, use_for_authentication: flag }),
    mfa: fc.record({
      enabled: flag,
      optional: flag,
      acquire_on_login: flag,
      acquire_on_registration: flag,
      authenticator: fc.record({ enabled: flag }),
      // Only an account without another second factor is asked for a code by SMS, which makes it rare.
      sms: fc.record({ enabled: mostly }),
      device_trust_policy: fc.constantFrom("never", "prompt", "always" as const),
    }),
  })
  .map(
    ({ passkey, password, username, email, phone, mfa }): Config => ({
      ...base,
      mfa: { ...base.mfa, ...mfa },
      passkey: { ...base.passkey, ...passkey },
      password: { ...base.password, ...password },
      username: { ...base.username, ...username },
      email: { ...base.email, ...email },
      phone: { ...base.phone, ...phone },
    }),
  );

const waiting = {
  request: "request",
  clientId: "shop",
  host: "shop.example.com",
  asked: { scopes: ["openid"], claims: [], resources: {} },
};

const anySituation = fc.record({
  type: fc.constantFrom(...flowTypes),
  config: anyConfig,
  facts: fc.record({
    hasPassword: fc.boolean(),
    hasPasskey: fc.boolean(),
    username: fc.constantFrom(null, "ada"),
    email: fc.constantFrom(null, "ada@example.com"),
    emailVerified: fc.boolean(),
    hasSecurityKey: fc.boolean(),
    hasTotp: fc.boolean(),
    hasAuthenticator: fc.boolean(),
    hasRecoveryCode: fc.boolean(),
    hasIdentity: fc.boolean(),
    deviceTrusted: fc.boolean(),
    language: fc.constant(null),
    blocked: fc.constant(false),
    phone: fc.constantFrom(null, "+4915112345678"),
    phoneVerified: mostly,
    passkeyDeclinedAt: fc.constantFrom(...Array<null>(9).fill(null), new Date("2026-01-01T00:00:00.000Z")),
  }),
  data: fc
    .record({
      completedStates: fc.subarray([
        ...new Set(flowTypes.flatMap((type): StateName[] => [...plannableStates[type]])),
      ]),
      factors: fc.subarray([
        { method: "passcode", at: "2026-01-01T00:00:00.000Z" },
        { method: "totp", at: "2026-01-01T00:00:00.000Z" },
      ]),
      signedUp: fc.constantFrom(undefined, "created", "known"),
      enrolled: fc.boolean(),
      steppingUp: fc.boolean(),
      passcode: fc.constantFrom(undefined, { purpose: "email_verification", decoy: false }),
      capabilities: fc.constantFrom(undefined, capable),
      recovering: fc.boolean(),
      email: fc.constantFrom(undefined, "ada@example.com"),
      phone: fc.constantFrom(undefined, "+4915112345678"),
      userId: fc.constantFrom(undefined, "3f0a4c9e-0000-4000-8000-000000000001"),
      choice: fc.constantFrom(undefined, { request: "request", accounts: [] }),
      authorization: fc.constantFrom(undefined, waiting),
    })
    .map((data) => flowData.parse(data)),
});

const ends: (StateName | undefined)[] = [
  "device_code",
  "consent",
  "success",
  "login_init",
  "registration_init",
  "thirdparty",
  "profile_init",
];

describe("in any situation", () => {
  test("the plan contains only plannable states, each once, and ends at the destination", () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const states = plan(situation);
        expect(plannableStates[situation.type]).toEqual(expect.arrayContaining(states));
        expect(new Set(states).size).toBe(states.length);
        expect(ends).toContain(states.at(-1));
      }),
    );
  });

  test("completing its first state repeatedly terminates", () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        let { data } = situation;
        let [head] = plan(situation);
        for (let steps = 0; steps < 12 && head !== undefined && !ends.includes(head); steps += 1) {
          const proves = ["login_otp", "login_security_key", "login_authenticator", "login_sms"].includes(
            head,
          );
          const shown = { method: "totp" as const, at: "2026-01-01T00:00:00.000Z" };
          data = {
            ...data,
            completedStates: [...data.completedStates, head],
            factors: proves ? [...data.factors, shown] : data.factors,
            recovering: undefined,
            passcode: undefined,
            emailVerified: true,
            phoneVerified: true,
          } as FlowData;
          [head] = plan({ ...situation, data });
        }
        expect(ends).toContain(head);
      }),
    );
  });

  test("the next state is its first one, and each state that is passed over has a reason with a sentence", () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const { state, passedOver } = nextState(situation);
        expect(state).toBe(plan(situation)[0]);
        expect(passedOver).not.toHaveProperty(state);
        for (const reasons of Object.values(passedOver)) {
          expect(reasons).not.toEqual([]);
          for (const name of reasons) expect(sentenceOf(name)).toMatch(/^(`|[A-Z]).+\.$/);
        }
      }),
    );
  });

  test("a state that the plan passes over, and an action that is not offered, has a reason", () => {
    const sentence = /^(`|[A-Z]).+[A-Za-z`)]\.$/;
    fc.assert(
      fc.property(anySituation, (situation) => {
        const passedOver = plannedSteps[situation.type].filter(({ when }) => !holds(when, situation));
        for (const { when } of passedOver) expect(reasonsOf(when, situation)).not.toEqual([]);
        const view = { ...situation, account: null, fresh: false, impersonation: null, previous: null };
        for (const state of stateNames)
          for (const { when } of Object.values<Action>(states[state].actions)) {
            const reasons = reasonsOf(when, { ...view, state });
            if (!holds(when, { ...view, state })) expect(reasons).not.toEqual([]);
            for (const reason of reasons) expect(reason.sentence).toMatch(sentence);
          }
      }),
    );
  });

  test("every plannable state is planned in some situation", () => {
    const seen: Record<FlowType, Set<StateName>> = {
      login: new Set(),
      registration: new Set(),
      profile: new Set(),
      token_exchange: new Set(),
      consent: new Set(),
    };
    const uncompleted = fc.tuple(anySituation, fc.constantFrom([], ["preflight"] as const));
    fc.assert(
      fc.property(uncompleted, ([situation, completed]) => {
        const data = { ...situation.data, completedStates: [...completed], capabilities: capable };
        for (const state of plan({ ...situation, data })) seen[situation.type].add(state);
      }),
      { numRuns: 20_000, seed: 7 },
    );
    for (const type of flowTypes) expect([...seen[type]].sort()).toEqual([...plannableStates[type]].sort());
  });
});
