import { expect, test } from "vitest";
import { type FlowRecord, flowData } from "./data.ts";
import { identifiesPerson } from "./resume.ts";

const registration = (data: object): FlowRecord => ({
  id: "00000000-0000-4000-8000-000000000002",
  type: "registration",
  state: "password_creation",
  version: 1,
  data: flowData.parse(data),
  history: [],
  payload: {},
  secrets: {},
  wanted: null,
});

test.each([
  ["a verified address", { emailVerified: true }],
  ["a verified number", { phoneVerified: true }],
  ["a password", { pending: { passwordHash: "hash" } }],
])("A127 %s identifies the person of a registration, whose earlier secret ends", (_, data) => {
  expect(identifiesPerson(registration({}), registration(data))).toBe(true);
  expect(identifiesPerson(registration(data), registration(data))).toBe(false);
});
