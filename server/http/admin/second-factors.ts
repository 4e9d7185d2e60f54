import { z } from "zod";
import {
  countUserRecoveryCodes,
  listUserPhones,
  listUserTrustedBrowsers,
  removeUserFactor,
  removeUserPhone,
  removeUserRecoveryCodes,
  removeUserTrustedBrowser,
  removeUserTrustedBrowsers,
  replaceUserRecoveryCodes,
} from "../../admin/user-factors.ts";
import type { Device } from "../../authenticator/devices.ts";
import { type RemovableMethod, removableMethods } from "../../methods/index.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

const time = z.iso.datetime({ precision: 3 });

const trustedBrowserSchema = z.strictObject({
  id: z.guid().describe("Changes with each use."),
  last_used_at: time.describe("When trust was granted or last used."),
  expires_at: time,
});

const phoneSchema = z.strictObject({
  id: z.guid(),
  name: z.string(),
  aaid: z.string().describe("Model of the authenticator (FIDO UAF)."),
  is_second_factor_only: z.boolean(),
  os: z.string().optional(),
  os_version: z.string().optional(),
  manufacturer: z.string().optional(),
  model: z.string().optional(),
  created_at: time,
  last_used_at: time,
});

/** A phone without its push token and secret. */
function describePhone(phone: Device): z.infer<typeof phoneSchema> {
  const { deviceOs, osVersion, manufacturer, model } = phone;
  return {
    id: phone.id,
    name: phone.keyName,
    aaid: phone.aaid,
    is_second_factor_only: phone.isSecondFactorOnly,
    ...(deviceOs === null ? {} : { os: deviceOs }),
    ...(osVersion === null ? {} : { os_version: osVersion }),
    ...(manufacturer === null ? {} : { manufacturer }),
    ...(model === null ? {} : { model }),
    created_at: phone.createdAt.toISOString(),
    last_used_at: phone.lastUsedAt.toISOString(),
  };
}

/** The operations of a second factor of which an account has one. */
function factorAddresses(method: RemovableMethod) {
  const { article, noun, short, administration } = method.removal;
  const { path, id, schema, member } = administration;
  const missing = `There is no such user, or it has no ${short}.`;
  return [
    userOperation(`GET /admin/users/{id}/${path}`, {
      id: `get${id}`,
      summary: `Get whether a user has ${article} ${noun}`,
      answers: { 200: { schema }, 404: missing },
      part: (user) => user[member],
    }),
    changeOperation(`DELETE /admin/users/{id}/${path}`, {
      id: `delete${id}`,
      summary: `Remove the ${noun} of a user`,
      description:
        "Ends unfinished sign-ins and the trust in browsers; with the last second factor, the recovery codes too.",
      answers: { 204: `The user has no ${short}.`, 404: missing },
      perform: (context, { params }) => removeUserFactor(context, method, params.id),
    }),
  ];
}

/** Second factors of users: authenticator apps, recovery codes, trusted browsers, and phones. */
export const secondFactorAddresses = [
  ...removableMethods.flatMap(factorAddresses),
  changeOperation("GET /admin/users/{id}/recovery_codes", {
    id: "countUserRecoveryCodes",
    summary: "Count the unused recovery codes of a user",
    answers: { 200: { schema: z.strictObject({ remaining: z.int() }) } },
    perform: (context, { params }) => countUserRecoveryCodes(context, params.id),
    show: ({ remaining }) => ({ remaining }),
  }),
  changeOperation("POST /admin/users/{id}/recovery_codes", {
    id: "replaceUserRecoveryCodes",
    summary: "Replace the recovery codes of a user",
    description: "The codes are in this answer alone.",
    answers: {
      200: { schema: z.strictObject({ recovery_codes: z.array(z.string()) }) },
      409: "The user has no second factor, or recovery codes are disabled.",
    },
    perform: (context, { params }) => replaceUserRecoveryCodes(context, params.id),
    show: ({ codes }) => ({ recovery_codes: codes }),
  }),
  changeOperation("DELETE /admin/users/{id}/recovery_codes", {
    id: "deleteUserRecoveryCodes",
    summary: "Remove the recovery codes of a user",
    answers: { 204: "The user has no recovery code." },
    perform: (context, { params }) => removeUserRecoveryCodes(context, params.id),
  }),
  changeOperation("GET /admin/users/{id}/trusted_browsers", {
    id: "listUserTrustedBrowsers",
    summary: "List the browsers that skip the second factor of a user, newest first",
    answers: { 200: { schema: z.array(trustedBrowserSchema) } },
    perform: (context, { params }) => listUserTrustedBrowsers(context, params.id),
    show: ({ browsers }) =>
      browsers.map(({ id, createdAt, expiresAt }) => ({
        id,
        last_used_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      })),
  }),
  changeOperation("DELETE /admin/users/{id}/trusted_browsers", {
    id: "deleteUserTrustedBrowsers",
    summary: "End the trust in all browsers of a user",
    answers: { 204: "No browser is trusted." },
    perform: (context, { params }) => removeUserTrustedBrowsers(context, params.id),
  }),
  changeOperation("DELETE /admin/users/{id}/trusted_browsers/{browser_id}", {
    id: "deleteUserTrustedBrowser",
    summary: "End the trust in a browser of a user",
    answers: { 204: "The browser is not trusted." },
    perform: (context, { params }) => removeUserTrustedBrowser(context, params.id, params.browser_id),
  }),
  changeOperation("GET /admin/users/{id}/phones", {
    id: "listUserPhones",
    summary: "List the phones that answer authenticator requests of a user, oldest first",
    answers: { 200: { schema: z.array(phoneSchema) } },
    perform: (context, { params }) => listUserPhones(context, params.id),
    show: (found) => found.phones.map(describePhone),
  }),
  changeOperation("DELETE /admin/users/{id}/phones/{phone_id}", {
    id: "deleteUserPhone",
    summary: "Remove a phone of a user",
    answers: { 204: "The phone is removed." },
    perform: (context, { params }) => removeUserPhone(context, params.id, params.phone_id),
  }),
];
