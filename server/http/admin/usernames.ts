import { z } from "zod";
import { updateAdminUser } from "../../admin/users.ts";
import { usernameSchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const path = "/admin/users/{id}/username";
const params = z.object({ id: uuid() });

/** Usernames of users. */
export const usernameAddresses = [
  userOperation(
    {
      method: "GET",
      path,
      id: "getUsername",
      summary: "Get the username of a user",
      tag,
      params,
      answers: { 200: { schema: usernameSchema }, 404: "There is no such user, or it has no username." },
    },
    (user) => user.username,
  ),
  changeOperation(
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
    (context, { params, body }) => updateAdminUser(context, params.id, body),
    ({ user }) => json(200, user.username),
  ),
  changeOperation(
    {
      method: "DELETE",
      path,
      id: "deleteUsername",
      summary: "Remove the username of a user",
      tag,
      params,
      answers: { 204: "The user has no username.", 404: NOT_FOUND },
    },
    (context, { params }) => updateAdminUser(context, params.id, { username: null }),
  ),
];
