import { z } from "zod";
import { removeUserPassword, setUserPassword } from "../../admin/user-password.ts";
import { userPasswordSchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const path = "/admin/users/{id}/password";
const params = z.object({ id: uuid() });
const body = z.strictObject({
  password: z
    .string()
    .min(1)
    .max(1024)
    .describe(
      "At most `password.max_length` characters. No other rule applies: operators carry passwords over.",
    ),
});
const shown = { schema: userPasswordSchema };
const NO_PASSWORD = "There is no such user, or it has no password.";

/** Passwords of users. */
export const passwordAddresses = [
  userOperation(
    {
      method: "GET",
      path,
      id: "getUserPassword",
      summary: "Get whether a user has a password",
      tag,
      params,
      answers: { 200: shown, 404: NO_PASSWORD },
    },
    (user) => user.password,
  ),
  changeOperation(
    {
      method: "POST",
      path,
      id: "createUserPassword",
      summary: "Set the password of a user who has none",
      tag,
      params,
      body,
      answers: { 200: shown, 404: "There is no such user.", 409: "The user has a password." },
    },
    (context, { params, body }) => setUserPassword(context, params.id, { ...body, kind: "first" } as const),
    ({ password }) => json(200, password),
  ),
  changeOperation(
    {
      method: "PUT",
      path,
      id: "updateUserPassword",
      summary: "Replace the password of a user",
      description: "Ends unfinished sign-ins and the trust in browsers. Sessions stay.",
      tag,
      params,
      body,
      answers: { 200: shown, 404: NO_PASSWORD },
    },
    (context, { params, body }) =>
      setUserPassword(context, params.id, { ...body, kind: "replacement" } as const),
    ({ password }) => json(200, password),
  ),
  changeOperation(
    {
      method: "DELETE",
      path,
      id: "deleteUserPassword",
      summary: "Remove the password of a user",
      tag,
      params,
      answers: { 204: "The user has no password.", 404: NO_PASSWORD },
    },
    (context, { params }) => removeUserPassword(context, params.id),
  ),
];
