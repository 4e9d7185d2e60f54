import { z } from "zod";
import { notFound } from "../../admin/rejections.ts";
import { updateAdminUser } from "../../admin/users.ts";
import { readUserObject, usernameSchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { requestContextOf } from "../table/handler-context.ts";
import { adminOperation, NOT_FOUND, noContent, rejectionReply, replyTo } from "./admin-operation.ts";

const tag = "admin: users";
const path = "/admin/users/{id}/username";
const params = z.object({ id: uuid() });

/** Usernames of users. */
export const usernameAddresses = [
  adminOperation(
    {
      method: "GET",
      path,
      id: "getUsername",
      summary: "Get the username of a user",
      tag,
      params,
      answers: { 200: { schema: usernameSchema }, 404: "There is no such user, or it has no username." },
    },
    async ({ runtime, tenant }, { params }) => {
      const user = await readUserObject(runtime.database.read, tenant, params.id);
      return user?.username ? json(200, user.username) : rejectionReply(notFound);
    },
  ),
  adminOperation(
    {
      method: "PUT",
      path,
      id: "setUsername",
      summary: "Set the username of a user",
      tag,
      params,
      body: z.strictObject({ username: z.string().min(1).max(1024) }),
      answers: { 200: { schema: usernameSchema }, 404: NOT_FOUND, 409: "Another user has the username." },
    },
    async (context, { params, body }) => {
      const changed = await updateAdminUser(await requestContextOf(context), params.id, body);
      return replyTo(changed, ({ user }) => json(200, user.username));
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path,
      id: "deleteUsername",
      summary: "Remove the username of a user",
      tag,
      params,
      answers: { 204: "The user has no username.", 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const change = { username: null };
      return replyTo(await updateAdminUser(await requestContextOf(context), params.id, change), noContent);
    },
  ),
];
