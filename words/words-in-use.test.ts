import { expect, test } from "vitest";
import { flow } from "./en/flow.ts";
import { messages } from "./en/messages.ts";
import { wordsInUse } from "./words-in-use.ts";

test("words of phone numbers are on the pages of tenants that have them", () => {
  const { page, ...others } = flow;
  expect(wordsInUse(flow, { phone: { enabled: true } })).toMatchObject(others);
  const { states, actions, inputs, errors } = wordsInUse(flow, { phone: { enabled: false } });
  const missing = (all: object, left: object) => Object.keys(all).filter((name) => !(name in left));
  expect(missing(flow.states, states)).toEqual(["phone_confirmation", "login_sms", "mfa_phone_creation"]);
  expect(missing(flow.actions, actions)).toEqual([
    "continue_to_phone_confirmation",
    "continue_to_phone_creation",
    "phone_set",
    "phone_delete",
  ]);
  expect(missing(flow.inputs, inputs)).toEqual(["phone"]);
  expect(missing(flow.errors, errors)).toEqual([
    "phone_number_already_exists",
    "phone_number_not_allowed",
    "unknown_phone_number_error",
  ]);
});

test("texts of pages that stand in place of a flow are on no page of a flow", () => {
  for (const enabled of [true, false]) {
    const { page } = wordsInUse(flow, { phone: { enabled } });
    const missing = Object.keys(flow.page).filter((name) => !(name in page));
    expect(missing.toSorted()).toEqual(Object.keys(messages).toSorted());
  }
});
