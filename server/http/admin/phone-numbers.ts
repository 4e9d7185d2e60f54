import { z } from "zod";
import { deleteUserPhone, setUserPhone } from "../../admin/user-phone.ts";
import { userPhoneSchema } from "../../objects/user-object.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

/** Phone numbers of users. */
export const phoneNumberAddresses = [
  userOperation("GET /admin/users/{id}/phone_number", {
    id: "getPhoneNumber",
    summary: "Get the phone number of a user",
    answers: { 200: { schema: userPhoneSchema }, 404: "There is no such user, or it has no phone number." },
    part: ({ phone_number, phone_number_verified }) =>
      phone_number === undefined ? null : { phone_number, phone_number_verified },
  }),
  changeOperation("PUT /admin/users/{id}/phone_number", {
    id: "setPhoneNumber",
    summary: "Set the phone number of a user",
    description:
      "A mobile number of a country in `phone.allowed_countries`. A number that is not verified is confirmed by the first code that its owner enters, which ends the credentials that were set before.",
    body: z.strictObject({
      phone_number: z.string().min(1).max(64),
      phone_number_verified: z.boolean().default(false),
    }),
    answers: { 200: { schema: userPhoneSchema }, 409: "Another user has the phone number." },
    perform: (context, { params, body }) => setUserPhone(context, params.id, body),
    show: ({ phone }) => phone,
  }),
  changeOperation("DELETE /admin/users/{id}/phone_number", {
    id: "deletePhoneNumber",
    summary: "Remove the phone number of a user",
    description: "Ends the user's trusted browsers and unfinished sign-ins.",
    answers: { 204: "The user has no phone number." },
    perform: (context, { params }) => deleteUserPhone(context, params.id),
  }),
];
