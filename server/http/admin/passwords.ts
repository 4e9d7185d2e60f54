import { z } from "zod";
import { removeUserPassword, setUserPassword } from "../../admin/user-password.ts";
import { userPasswordSchema } from "../../objects/user-object.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

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
  userOperation("GET /admin/users/{id}/password", {
    id: "getUserPassword",
    summary: "Get whether a user has a password",
    answers: { 200: shown, 404: NO_PASSWORD },
    part: (user) => user.password,
  }),
  changeOperation("POST /admin/users/{id}/password", {
    id: "createUserPassword",
    summary: "Set the password of a user who has none",
    body,
    answers: { 200: shown, 404: "There is no such user.", 409: "The user has a password." },
    perform: (context, { params, body }) =>
      setUserPassword(context, params.id, { ...body, kind: "first" } as const),
    show: ({ password }) => password,
  }),
  changeOperation("PUT /admin/users/{id}/password", {
    id: "updateUserPassword",
    summary: "Replace the password of a user",
    description: "Ends unfinished sign-ins and the trust in browsers. Sessions stay.",
    body,
    answers: { 200: shown, 404: NO_PASSWORD },
    perform: (context, { params, body }) =>
      setUserPassword(context, params.id, { ...body, kind: "replacement" } as const),
    show: ({ password }) => password,
  }),
  changeOperation("DELETE /admin/users/{id}/password", {
    id: "deleteUserPassword",
    summary: "Remove the password of a user",
    answers: { 204: "The user has no password.", 404: NO_PASSWORD },
    perform: (context, { params }) => removeUserPassword(context, params.id),
  }),
];
