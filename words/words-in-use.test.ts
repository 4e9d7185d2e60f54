import { expect, test } from "vitest";
import { flow } from "./en/flow.ts";
import { messages } from "./en/messages.ts";
import { wordsInUse } from "./words-in-use.ts";

const on = { enabled: true };
const off = { enabled: false };
const missing = (all: object, left: object) => Object.keys(all).filter((name) => !(name in left));

test("words of phone numbers are on the pages of tenants that have them", () => {
  const { page, ...others } = flow;
  expect(wordsInUse(flow, { phone: on, openid: on })).toMatchObject(others);
  const { states, actions, inputs, errors } = wordsInUse(flow, { phone: off, openid: on });
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

test("words of the OpenID provider are on the pages of tenants that have it", () => {
  const { states, actions, inputs, authorization } = wordsInUse(flow, { phone: on, openid: off });
  expect(missing(flow.states, states)).toEqual([
    "device_code",
    "consent",
    "account_choice",
    "consent_answered",
  ]);
  expect(missing(flow.actions, actions).toSorted()).toEqual([
    "account_choose",
    "account_forget",
    "account_other",
    "application_revoke",
    "consent_allow",
    "consent_deny",
    "device_code_verify",
  ]);
  expect(missing(flow.inputs, inputs)).toEqual(["user_code", "chosen_account", "forgotten_account"]);
  expect(authorization).toEqual({});
  const { states: left } = wordsInUse(flow, { phone: off, openid: off });
  expect(missing(flow.states, left)).toHaveLength(7);
});

test("texts of pages that stand in place of a flow are on no page of a flow", () => {
  for (const phone of [on, off])
    for (const openid of [on, off]) {
      const { page } = wordsInUse(flow, { phone, openid });
      expect(missing(flow.page, page).toSorted()).toEqual(Object.keys(messages).toSorted());
    }
});
