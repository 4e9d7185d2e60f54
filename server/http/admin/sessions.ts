import { z } from "zod";
import {
  createUserSession,
  endUserSession,
  endUserSessions,
  listUserSessions,
} from "../../admin/user-sessions.ts";
import { sessionObject, sessionObjectSchema } from "../../objects/session-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND } from "./admin-operation.ts";

const tag = "admin: sessions";
const params = z.object({ id: uuid() });

/** Sessions of users. */
export const sessionAddresses = [
  changeOperation(
    {
      method: "POST",
      path: "/admin/sessions",
      id: "createSession",
      summary: "Create a session of a user",
      description:
        "Ends the oldest sessions beyond `session.limit`, as a login does. The user has proved nothing, so that a change of the account asks for a proof.",
      tag,
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
    },
    (context, { body }) =>
      createUserSession(context, body.user_id, {
        userAgent: body.user_agent ?? null,
        ipAddress: body.ip_address ?? null,
      }),
    ({ token }) => json(200, { session_token: token }),
  ),
  changeOperation(
    {
      method: "GET",
      path: "/admin/users/{id}/sessions",
      id: "listUserSessions",
      summary: "List the live sessions of a user, newest first",
      tag,
      params,
      answers: { 200: { schema: z.array(sessionObjectSchema) }, 404: NOT_FOUND },
    },
    (context, { params }) => listUserSessions(context, params.id),
    ({ sessions }) => json(200, sessions.map(sessionObject)),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: "/admin/users/{id}/sessions",
      id: "endUserSessions",
      summary: "End all sessions of a user",
      description: "Their tokens are invalid at once, and unfinished sign-ins end too.",
      tag,
      params,
      answers: { 204: "The user has no session.", 404: NOT_FOUND },
    },
    (context, { params }) => endUserSessions(context, params.id),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: "/admin/users/{id}/sessions/{session_id}",
      id: "endUserSession",
      summary: "End a session of a user",
      description: "Its token is invalid at once.",
      tag,
      params: params.extend({ session_id: uuid() }),
      answers: { 204: "The session has ended.", 404: NOT_FOUND },
    },
    (context, { params }) => endUserSession(context, params.id, params.session_id),
  ),
];
