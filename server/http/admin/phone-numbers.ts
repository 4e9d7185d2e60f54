import { z } from "zod";
import { deleteUserPhone, setUserPhone } from "../../admin/user-phone.ts";
import { userPhoneSchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const path = "/admin/users/{id}/phone_number";
const params = z.object({ id: uuid() });

/** Phone numbers of users. */
export const phoneNumberAddresses = [
  userOperation(
    {
      method: "GET",
      path,
      id: "getPhoneNumber",
      summary: "Get the phone number of a user",
      tag,
      params,
      answers: { 200: { schema: userPhoneSchema }, 404: "There is no such user, or it has no phone number." },
    },
    ({ phone_number, phone_number_verified }) =>
      phone_number === undefined ? null : { phone_number, phone_number_verified },
  ),
  changeOperation(
    {
      method: "PUT",
      path,
      id: "setPhoneNumber",
      summary: "Set the phone number of a user",
      description:
        "A mobile number of a country in `phone.allowed_countries`. A number that is not verified is confirmed by the first code that its owner enters, which ends the credentials that were set before.",
      tag,
      params,
      body: z.strictObject({
        phone_number: z.string().min(1).max(64),
        phone_number_verified: z.boolean().default(false),
      }),
      answers: {
        200: { schema: userPhoneSchema },
        404: NOT_FOUND,
        409: "Another user has the phone number.",
      },
    },
    (context, { params, body }) => setUserPhone(context, params.id, body),
    ({ phone }) => json(200, phone),
  ),
  changeOperation(
    {
      method: "DELETE",
      path,
      id: "deletePhoneNumber",
      summary: "Remove the phone number of a user",
      description: "Ends the user's trusted browsers and unfinished sign-ins.",
      tag,
      params,
      answers: { 204: "The user has no phone number.", 404: NOT_FOUND },
    },
    (context, { params }) => deleteUserPhone(context, params.id),
  ),
];
