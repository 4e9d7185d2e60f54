import { z } from "zod";
import { addUserEmail, removeUserEmail, setPrimaryUserEmail } from "../../admin/user-emails.ts";
import { userEmailSchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const params = z.object({ id: uuid() });
const emailParams = params.extend({ email_id: uuid() });

/** Emails of users. */
export const emailAddresses = [
  userOperation(
    {
      method: "GET",
      path: "/admin/users/{id}/emails",
      id: "listUserEmails",
      summary: "List the emails of a user, the primary one first",
      tag,
      params,
      answers: { 200: { schema: z.array(userEmailSchema) }, 404: NOT_FOUND },
    },
    (user) => user.emails ?? [],
  ),
  changeOperation(
    {
      method: "POST",
      path: "/admin/users/{id}/emails",
      id: "createUserEmail",
      summary: "Add an email to a user",
      description: "The first email of a user becomes the primary one, whatever `is_primary` says.",
      tag,
      params,
      body: z.strictObject({
        address: z.string().max(1024),
        is_primary: z.boolean().optional().describe("Ignored."),
        is_verified: z.boolean().default(false),
      }),
      answers: {
        201: { schema: userEmailSchema },
        404: NOT_FOUND,
        409: "The user has `email.limit` emails.",
      },
    },
    (context, { params, body }) =>
      addUserEmail(context, params.id, { address: body.address, verified: body.is_verified }),
    (found) => json(201, found.email),
  ),
  userOperation(
    {
      method: "GET",
      path: "/admin/users/{id}/emails/{email_id}",
      id: "getUserEmail",
      summary: "Get an email of a user",
      tag,
      params: emailParams,
      answers: { 200: { schema: userEmailSchema }, 404: NOT_FOUND },
    },
    (user, params) => user.emails?.find(({ id }) => id === params.email_id),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: "/admin/users/{id}/emails/{email_id}",
      id: "deleteUserEmail",
      summary: "Remove an email of a user",
      tag,
      params: emailParams,
      answers: { 204: "The email is removed.", 404: NOT_FOUND, 409: "It is the primary email." },
    },
    (context, { params }) => removeUserEmail(context, params.id, params.email_id),
  ),
  changeOperation(
    {
      method: "POST",
      path: "/admin/users/{id}/emails/{email_id}/set_primary",
      id: "setPrimaryUserEmail",
      summary: "Make an email the primary one of its user",
      tag,
      params: emailParams,
      answers: { 204: "The email is the primary one.", 404: NOT_FOUND },
    },
    (context, { params }) => setPrimaryUserEmail(context, params.id, params.email_id),
  ),
];
