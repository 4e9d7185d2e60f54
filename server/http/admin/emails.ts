import { z } from "zod";
import {
  addUserEmail,
  removeUserEmail,
  setPrimaryUserEmail,
  verifyUserEmail,
} from "../../admin/user-emails.ts";
import { userEmailSchema } from "../../objects/user-object.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

/** Emails of users. */
export const emailAddresses = [
  userOperation("GET /admin/users/{id}/emails", {
    id: "listUserEmails",
    summary: "List the emails of a user, the primary one first",
    answers: { 200: { schema: z.array(userEmailSchema) } },
    part: (user) => user.emails ?? [],
  }),
  changeOperation("POST /admin/users/{id}/emails", {
    id: "createUserEmail",
    summary: "Add an email to a user",
    description: "The first email of a user becomes the primary one, whatever `is_primary` says.",
    body: z.strictObject({
      address: z.string().max(1024),
      is_primary: z.boolean().optional().describe("Ignored."),
      is_verified: z.boolean().default(false),
    }),
    answers: { 201: { schema: userEmailSchema }, 409: "The user has `email.limit` emails." },
    perform: (context, { params, body }) =>
      addUserEmail(context, params.id, { address: body.address, verified: body.is_verified }),
    show: ({ email }) => email,
  }),
  userOperation("GET /admin/users/{id}/emails/{email_id}", {
    id: "getUserEmail",
    summary: "Get an email of a user",
    answers: { 200: { schema: userEmailSchema } },
    part: (user, params) => user.emails?.find(({ id }) => id === params.email_id),
  }),
  changeOperation("DELETE /admin/users/{id}/emails/{email_id}", {
    id: "deleteUserEmail",
    summary: "Remove an email of a user",
    answers: { 204: "The email is removed.", 409: "It is the primary email." },
    perform: (context, { params }) => removeUserEmail(context, params.id, params.email_id),
  }),
  changeOperation("POST /admin/users/{id}/emails/{email_id}/set_primary", {
    id: "setPrimaryUserEmail",
    summary: "Make an email the primary one of its user",
    answers: { 204: "The email is the primary one." },
    perform: (context, { params }) => setPrimaryUserEmail(context, params.id, params.email_id),
  }),
  changeOperation("POST /admin/users/{id}/emails/{email_id}/verify", {
    id: "verifyUserEmail",
    summary: "Mark an email of a user as verified",
    description: "As if the user had entered a code that was sent to it. A second call has no effect.",
    verifies: ({ params }) => params.email_id,
    answers: { 204: "The email is verified." },
    perform: (context, { params }) => verifyUserEmail(context, params.id, params.email_id),
  }),
];
