import { z } from "zod";
import {
  createUserSession,
  endUserSession,
  endUserSessions,
  listUserSessions,
} from "../../admin/user-sessions.ts";
import { sessionObject, sessionObjectSchema } from "../../objects/session-object.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND } from "./admin-operation.ts";

/** Sessions of users. */
export const sessionAddresses = [
  changeOperation("POST /admin/sessions", {
    id: "createSession",
    summary: "Create a session of a user",
    description:
      "Ends the oldest sessions beyond `session.limit`, as a login does. The user has proved nothing, so that a change of the account asks for a proof.",
    concerns: ({ body }) => [(body as { user_id?: unknown }).user_id],
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
  changeOperation("GET /admin/users/{id}/sessions", {
    id: "listUserSessions",
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
