import { z } from "zod";
import { removeUserCredential, renameUserCredential } from "../../admin/user-credentials.ts";
import { removeUserIdentity } from "../../admin/user-identities.ts";
import { userCredentialSchema, userIdentitySchema } from "../../objects/user-object.ts";
import { json } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { changeOperation, NOT_FOUND, userOperation } from "./admin-operation.ts";

const tag = "admin: users";
const list = "/admin/users/{id}/webauthn_credentials";
const item = `${list}/{credential_id}`;
const params = z.object({ id: uuid() });
const credentialParams = params.extend({
  credential_id: z.string().max(1364).describe("Credential id, base64url."),
});

/** Passkeys, security keys and identities of users. */
export const credentialAddresses = [
  userOperation(
    {
      method: "GET",
      path: list,
      id: "listUserCredentials",
      summary: "List the passkeys and security keys of a user, oldest first",
      tag,
      params,
      answers: { 200: { schema: z.array(userCredentialSchema) }, 404: NOT_FOUND },
    },
    (user) => user.webauthn_credentials ?? [],
  ),
  userOperation(
    {
      method: "GET",
      path: item,
      id: "getUserCredential",
      summary: "Get a passkey or security key of a user",
      tag,
      params: credentialParams,
      answers: { 200: { schema: userCredentialSchema }, 404: NOT_FOUND },
    },
    (user, params) => user.webauthn_credentials?.find(({ id }) => id === params.credential_id),
  ),
  changeOperation(
    {
      method: "PATCH",
      path: item,
      id: "renameUserCredential",
      summary: "Rename a passkey or security key of a user",
      tag,
      params: credentialParams,
      body: z.strictObject({
        name: z
          .string()
          .trim()
          .min(1)
          .max(64)
          .refine((name) => !/\p{Cc}/u.test(name), "must be one line"),
      }),
      answers: { 200: { schema: userCredentialSchema }, 404: NOT_FOUND },
    },
    (context, { params, body }) =>
      renameUserCredential(context, params.id, { id: params.credential_id, name: body.name }),
    (found) => json(200, found.credential),
  ),
  changeOperation(
    {
      method: "DELETE",
      path: item,
      id: "deleteUserCredential",
      summary: "Remove a passkey or security key of a user",
      tag,
      params: credentialParams,
      answers: { 204: "The credential is removed.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserCredential(context, params.id, params.credential_id),
  ),
  userOperation(
    {
      method: "GET",
      path: "/admin/users/{id}/identities",
      id: "listUserIdentities",
      summary: "List the identities of a user at identity providers, oldest first",
      tag,
      params,
      answers: { 200: { schema: z.array(userIdentitySchema) }, 404: NOT_FOUND },
    },
    (user) => user.identities ?? [],
  ),
  changeOperation(
    {
      method: "DELETE",
      path: "/admin/users/{id}/identities/{identity_id}",
      id: "deleteUserIdentity",
      summary: "Disconnect an identity of a user",
      tag,
      params: params.extend({ identity_id: uuid() }),
      answers: { 204: "The identity is disconnected.", 404: NOT_FOUND },
    },
    (context, { params }) => removeUserIdentity(context, params.id, params.identity_id),
  ),
];
