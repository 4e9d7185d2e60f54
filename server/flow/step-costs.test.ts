import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { View } from "./define.ts";
import { factsOf } from "./facts.ts";
import { describeInputs } from "./inputs.ts";
import { states } from "./states/index.ts";
import { stepCosts } from "./step-costs.ts";

const config = loadConfig({}, "/nonexistent");
const actions = Object.values(states).flatMap((state) =>
  Object.entries(state.actions).map(([name, action]) => ({ state, name, action })),
);

function inputsOf({ state, action }: (typeof actions)[number]) {
  const data = { factors: [], completedStates: [], pending: {} };
  const facts = factsOf("login", data, null);
  const view: View = {
    account: null,
    fresh: true,
    impersonation: null,
    type: "login",
    state: state.name,
    data,
    facts,
    config,
    previous: null,
  };
  return Object.values(describeInputs(action.input(view)).inputs);
}

describe("A129 the cost of a step", () => {
  test.each(actions.filter((entry) => inputsOf(entry).some(({ type }) => type === "password")))(
    "of $name includes the hash of its password",
    ({ action }) => {
      expect(action.costs).toContain("hash");
    },
  );

  test.each(actions.filter(({ action }) => action.to.includes("passcode_confirmation")))(
    "of $name includes the mail that it can cause",
    ({ action }) => {
      expect(action.costs).toContain("mail");
    },
  );

  test("is known by state, and under every name of an action", () => {
    expect(JSON.parse(stepCosts("password_update"))).toEqual({ profile_init: 18 });
    expect(JSON.parse(stepCosts("patch_metadata"))).toEqual({ profile_init: 3 });
    expect(JSON.parse(stepCosts("username_create"))).toMatchObject({ onboarding_username: 3 });
    expect(stepCosts("unknown")).toBe("{}");
  });
});
