import { z } from "zod";
import { updateAdminUser } from "../../admin/users.ts";
import { usernameSchema } from "../../objects/user-object.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

/** Usernames of users. */
export const usernameAddresses = [
  userOperation("GET /admin/users/{id}/username", {
    id: "getUsername",
    summary: "Get the username of a user",
    answers: { 200: { schema: usernameSchema }, 404: "There is no such user, or it has no username." },
    part: (user) => user.username,
  }),
  changeOperation("PUT /admin/users/{id}/username", {
    id: "setUsername",
    summary: "Set the username of a user",
    body: z.strictObject({ username: z.string().min(1).max(1024) }),
    answers: { 200: { schema: usernameSchema }, 409: "Another user has the username." },
    perform: (context, { params, body }) => updateAdminUser(context, params.id, body),
    show: ({ user }) => user.username,
  }),
  changeOperation("DELETE /admin/users/{id}/username", {
    id: "deleteUsername",
    summary: "Remove the username of a user",
    answers: { 204: "The user has no username." },
    perform: (context, { params }) => updateAdminUser(context, params.id, { username: null }),
  }),
];
