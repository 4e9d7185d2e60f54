import { z } from "zod";
import { grantImpersonation } from "../../admin/impersonation.ts";
import {
  createUserSession,
  endUserSession,
  endUserSessions,
  listUserSessions,
} from "../../admin/user-sessions.ts";
import { sessionObject, sessionObjectSchema } from "../../objects/session-object.ts";
import { actingLink } from "../console/act-as.ts";
import { uuid } from "../table/fields.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { adminOperation, changeOperation, NOT_FOUND } from "./admin-operation.ts";

/** A text of one line, which pages and mails show as it is. */
const line = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .refine(
    (text) => text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text),
    "must be one line",
  )
  .refine((text) => /[\p{L}\p{N}]/u.test(text), "must have a letter or a digit");

/** Sessions of users. */
export const sessionAddresses = [
  changeOperation("POST /admin/sessions", {
    id: "createSession",
    summary: "Create a session of a user",
    description:
      "Ends the oldest sessions beyond `session.limit`, as a login does. The user has proved nothing, so that a change of the account asks for a proof. For API keys alone: an account of the console signs in as a user by `POST /admin/users/{id}/impersonations`.",
    keysOnly: true,
    body: z.strictObject({
      user_id: uuid(),
      user_agent: z.string().min(1).max(512).optional().describe("What the session shows of its browser."),
      ip_address: z.union([z.ipv4(), z.ipv6()]).optional(),
    }),
    answers: {
      200: { schema: z.strictObject({ session_token: z.string().describe("Signed JWT.") }) },
      404: NOT_FOUND,
      409: "The user is blocked.",
    },
    perform: (context, { body }) =>
      createUserSession(context, body.user_id, {
        userAgent: body.user_agent ?? null,
        ipAddress: body.ip_address ?? null,
      }),
    show: ({ token }) => ({ session_token: token }),
  }),
  adminOperation("POST /admin/users/{id}/impersonations", {
    id: "impersonateUser",
    summary: "Sign in as a user, to see what the user sees",
    description:
      "For accounts of the console with the role `administrator` or `operator`, not for API keys. Not of a user with a role of the console. Nothing changes before the address is opened in the browser that is signed in to the console, and confirmed there. The session bears the account and the reason, changes nothing of how the user signs in, and ends with the session of the console.",
    body: z.strictObject({
      reason: line.describe("Why. The owner of the account reads it too."),
      lifetime: z
        .int()
        .min(60)
        .max(3600)
        .optional()
        .describe("Seconds. Default: `console.impersonation.lifetime`."),
    }),
    answers: {
      200: {
        schema: z.strictObject({
          url: z.url().describe("Valid once, for a minute, in the browser of the console."),
          lifetime: z.int().describe("Seconds for which the session lasts."),
        }),
      },
      403: "The caller is no administrator of the console, or the user has a role of it.",
      404: NOT_FOUND,
      409: "The user is blocked, browsers get no sessions here, or servers of another release run.",
    },
    async perform(context, { params, body }) {
      const asked = { userId: params.id, reason: body.reason, seconds: body.lifetime };
      const verdict = await grantImpersonation(await requestContextOf(context), context.visitor, asked);
      if (!verdict.ok) return verdict;
      const { granted } = verdict;
      return {
        url: await actingLink(context.runtime, context.tenant, granted),
        lifetime: granted.seconds,
      };
    },
  }),
  changeOperation("GET /admin/users/{id}/sessions", {
    id: "listUserSessions",
    fromReplica: true,
    summary: "List the live sessions of a user, newest first",
    answers: { 200: { schema: z.array(sessionObjectSchema) } },
    perform: (context, { params }) => listUserSessions(context, params.id),
    show: ({ sessions }) => sessions.map(sessionObject),
  }),
  changeOperation("DELETE /admin/users/{id}/sessions", {
    id: "endUserSessions",
    role: "support",
    summary: "End all sessions of a user",
    description: "Their tokens are invalid at once, and unfinished sign-ins end too.",
    answers: { 204: "The user has no session." },
    perform: (context, { params }) => endUserSessions(context, params.id),
  }),
  changeOperation("DELETE /admin/users/{id}/sessions/{session_id}", {
    id: "endUserSession",
    role: "support",
    summary: "End a session of a user",
    description: "Its token is invalid at once.",
    answers: { 204: "The session has ended." },
    perform: (context, { params }) => endUserSession(context, params.id, params.session_id),
  }),
];
