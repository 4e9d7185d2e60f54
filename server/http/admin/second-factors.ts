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
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const params = z.object({ id: uuid() });
const recoveryCodes = "/admin/users/{id}/recovery_codes";
const trustedBrowsers = "/admin/users/{id}/trusted_browsers";
const phones = "/admin/users/{id}/phones";
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
    userOperation(
      {
        method: "GET",
        path: `/admin/users/{id}/${path}`,
        id: `get${id}`,
        summary: `Get whether a user has ${article} ${noun}`,
        tag,
        params,
        answers: { 200: { schema }, 404: missing },
      },
      (user) => user[member],
    ),
    changeOperation(
      {
        method: "DELETE",
        path: `/admin/users/{id}/${path}`,
        id: `delete${id}`,
        summary: `Remove the ${noun} of a user`,
        description:
          "Ends unfinished sign-ins and the trust in browsers; with the last second factor, the recovery codes too.",
        tag,
        params,
        answers: { 204: `The user has no ${short}.`, 404: missing },
      },
      (context, { params }) => removeUserFactor(context, method, params.id),
    ),
  ];
}

/** Second factors of users: authenticator apps, recovery codes, trusted browsers, and phones. */
export const secondFactorAddresses = [
  ...removableMethods.flatMap(factorAddresses),
  changeOperation(
    {
      method: "GET",
      path: recoveryCodes,
      id: "countUserRecoveryCodes",
      summary: "Count the unused recovery codes of a user",
      tag,
      params,
      answers: { 200: { schema: z.strictObject({ remaining: z.int() }) }, 404: NOT_FOUND },
    },
    (context, { params }) => countUserRecoveryCodes(context, params.id),
    ({ remaining }) => json(200, { remaining }),
  ),
  changeOperation(
    {
      method: "POST",
      path: recoveryCodes,
      id: "replaceUserRecoveryCodes",
      summary: "Replace the recovery codes of a user",
      description: "The codes are in this answer alone.",
      tag,
      params,
      answers: {
        200: { schema: z.strictObject({ recovery_codes: z.array(z.string()) }) },
        404: NOT_FOUND,
        409: "The user has no second factor, or recovery codes are disabled.",
      },
    },
    (context, { params }) => replaceUserRecoveryCodes(context, params.id),
    ({ codes }) => json(200, { recovery_codes: codes }),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: recoveryCodes,
      id: "deleteUserRecoveryCodes",
      summary: "Remove the recovery codes of a user",
      tag,
      params,
      answers: { 204: "The user has no recovery code.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserRecoveryCodes(context, params.id),
  ),
  changeOperation(
    {
      method: "GET",
      path: trustedBrowsers,
      id: "listUserTrustedBrowsers",
      summary: "List the browsers that skip the second factor of a user, newest first",
      tag,
      params,
      answers: { 200: { schema: z.array(trustedBrowserSchema) }, 404: NOT_FOUND },
    },
    (context, { params }) => listUserTrustedBrowsers(context, params.id),
    ({ browsers }) =>
      json(
        200,
        browsers.map(({ id, createdAt, expiresAt }) => ({
          id,
          last_used_at: createdAt.toISOString(),
          expires_at: expiresAt.toISOString(),
        })),
      ),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: trustedBrowsers,
      id: "deleteUserTrustedBrowsers",
      summary: "End the trust in all browsers of a user",
      tag,
      params,
      answers: { 204: "No browser is trusted.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserTrustedBrowsers(context, params.id),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: `${trustedBrowsers}/{browser_id}`,
      id: "deleteUserTrustedBrowser",
      summary: "End the trust in a browser of a user",
      tag,
      params: params.extend({ browser_id: uuid() }),
      answers: { 204: "The browser is not trusted.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserTrustedBrowser(context, params.id, params.browser_id),
  ),
  changeOperation(
    {
      method: "GET",
      path: phones,
      id: "listUserPhones",
      summary: "List the phones that answer authenticator requests of a user, oldest first",
      tag,
      params,
      answers: { 200: { schema: z.array(phoneSchema) }, 404: NOT_FOUND },
    },
    (context, { params }) => listUserPhones(context, params.id),
    (found) => json(200, found.phones.map(describePhone)),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: `${phones}/{phone_id}`,
      id: "deleteUserPhone",
      summary: "Remove a phone of a user",
      tag,
      params: params.extend({ phone_id: uuid() }),
      answers: { 204: "The phone is removed.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserPhone(context, params.id, params.phone_id),
  ),
];
