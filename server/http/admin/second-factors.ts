import { z } from "zod";
import { notFound } from "../../admin/rejections.ts";
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
import { readUserObject } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { adminOperation, NOT_FOUND, noContent, rejectionReply, replyTo } from "./admin-operation.ts";

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
  const { path, id, noun, short, schema, member } = method.removal.administration;
  const missing = `There is no such user, or it has no ${short}.`;
  return [
    adminOperation(
      {
        method: "GET",
        path: `/admin/users/{id}/${path}`,
        id: `get${id}`,
        summary: `Get whether a user has ${noun}`,
        tag,
        params,
        answers: { 200: { schema }, 404: missing },
      },
      async ({ runtime, tenant }, { params }) => {
        const shown = (await readUserObject(runtime.database.read, tenant, params.id))?.[member];
        return shown ? json(200, shown) : rejectionReply(notFound);
      },
    ),
    adminOperation(
      {
        method: "DELETE",
        path: `/admin/users/{id}/${path}`,
        id: `delete${id}`,
        summary: `Remove ${noun.replace(/^an? /, "the ")} of a user`,
        description:
          "Ends unfinished sign-ins and the trust in browsers; with the last second factor, the recovery codes too.",
        tag,
        params,
        answers: { 204: `The user has no ${short}.`, 404: missing },
      },
      async (context, { params }) =>
        replyTo(await removeUserFactor(await requestContextOf(context), method, params.id), noContent),
    ),
  ];
}

/** Second factors of users: authenticator apps, recovery codes, trusted browsers, and phones. */
export const secondFactorAddresses = [
  ...removableMethods.flatMap(factorAddresses),
  adminOperation(
    {
      method: "GET",
      path: recoveryCodes,
      id: "countUserRecoveryCodes",
      summary: "Count the unused recovery codes of a user",
      tag,
      params,
      answers: { 200: { schema: z.strictObject({ remaining: z.int() }) }, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const counted = await countUserRecoveryCodes(await requestContextOf(context), params.id);
      return replyTo(counted, ({ remaining }) => json(200, { remaining }));
    },
  ),
  adminOperation(
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
    async (context, { params }) => {
      const replaced = await replaceUserRecoveryCodes(await requestContextOf(context), params.id);
      return replyTo(replaced, ({ codes }) => json(200, { recovery_codes: codes }));
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: recoveryCodes,
      id: "deleteUserRecoveryCodes",
      summary: "Remove the recovery codes of a user",
      tag,
      params,
      answers: { 204: "The user has no recovery code.", 404: NOT_FOUND },
    },
    async (context, { params }) =>
      replyTo(await removeUserRecoveryCodes(await requestContextOf(context), params.id), noContent),
  ),
  adminOperation(
    {
      method: "GET",
      path: trustedBrowsers,
      id: "listUserTrustedBrowsers",
      summary: "List the browsers that skip the second factor of a user, newest first",
      tag,
      params,
      answers: { 200: { schema: z.array(trustedBrowserSchema) }, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const listed = await listUserTrustedBrowsers(await requestContextOf(context), params.id);
      return replyTo(listed, ({ browsers }) =>
        json(
          200,
          browsers.map(({ id, createdAt, expiresAt }) => ({
            id,
            last_used_at: createdAt.toISOString(),
            expires_at: expiresAt.toISOString(),
          })),
        ),
      );
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: trustedBrowsers,
      id: "deleteUserTrustedBrowsers",
      summary: "End the trust in all browsers of a user",
      tag,
      params,
      answers: { 204: "No browser is trusted.", 404: NOT_FOUND },
    },
    async (context, { params }) =>
      replyTo(await removeUserTrustedBrowsers(await requestContextOf(context), params.id), noContent),
  ),
  adminOperation(
    {
      method: "DELETE",
      path: `${trustedBrowsers}/{browser_id}`,
      id: "deleteUserTrustedBrowser",
      summary: "End the trust in a browser of a user",
      tag,
      params: params.extend({ browser_id: uuid() }),
      answers: { 204: "The browser is not trusted.", 404: NOT_FOUND },
    },
    async (context, { params }) =>
      replyTo(
        await removeUserTrustedBrowser(await requestContextOf(context), params.id, params.browser_id),
        noContent,
      ),
  ),
  adminOperation(
    {
      method: "GET",
      path: phones,
      id: "listUserPhones",
      summary: "List the phones that answer authenticator requests of a user, oldest first",
      tag,
      params,
      answers: { 200: { schema: z.array(phoneSchema) }, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const listed = await listUserPhones(await requestContextOf(context), params.id);
      return replyTo(listed, (found) => json(200, found.phones.map(describePhone)));
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: `${phones}/{phone_id}`,
      id: "deleteUserPhone",
      summary: "Remove a phone of a user",
      tag,
      params: params.extend({ phone_id: uuid() }),
      answers: { 204: "The phone is removed.", 404: NOT_FOUND },
    },
    async (context, { params }) =>
      replyTo(await removeUserPhone(await requestContextOf(context), params.id, params.phone_id), noContent),
  ),
];
