import { z } from "zod";
import { endUserSession, listUserSessions } from "../../admin/user-sessions.ts";
import { sessionObject, sessionObjectSchema } from "../../sessions/session-object.ts";
import { uuid } from "../fields.ts";
import { clientContext } from "../handler-context.ts";
import { json } from "../reply.ts";
import { adminOperation, NOT_FOUND, rejectionReply } from "./admin-operation.ts";

/** Sessions of users. */
export const sessionAddresses = [
  adminOperation(
    {
      method: "GET",
      path: "/admin/users/{id}/sessions",
      id: "listUserSessions",
      summary: "List the live sessions of a user, newest first",
      tag: "admin: sessions",
      params: z.object({ id: uuid() }),
      answers: { 200: { schema: z.array(sessionObjectSchema) }, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const listed = await listUserSessions(await clientContext(context), params.id);
      return listed.ok ? json(200, listed.sessions.map(sessionObject)) : rejectionReply(listed);
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: "/admin/users/{id}/sessions/{session_id}",
      id: "endUserSession",
      summary: "End a session of a user",
      description: "Its token is invalid at once.",
      tag: "admin: sessions",
      params: z.object({ id: uuid(), session_id: uuid() }),
      answers: { 204: "The session has ended.", 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const ended = await endUserSession(await clientContext(context), params.id, params.session_id);
      return ended.ok ? { status: 204 } : rejectionReply(ended);
    },
  ),
];
