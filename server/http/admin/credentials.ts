import { z } from "zod";
import { removeUserCredential, renameUserCredential } from "../../admin/user-credentials.ts";
import { removeUserIdentity } from "../../admin/user-identities.ts";
import { userCredentialSchema, userIdentitySchema } from "../../objects/user-object.ts";
import { changeOperation, userOperation } from "./admin-operation.ts";

const credential = "/admin/users/{id}/webauthn_credentials/{credential_id}";
const params = { credential_id: z.string().max(1364).describe("Credential id, base64url.") };

/** Passkeys, security keys and identities of users. */
export const credentialAddresses = [
  userOperation("GET /admin/users/{id}/webauthn_credentials", {
    id: "listUserCredentials",
    summary: "List the passkeys and security keys of a user, oldest first",
    answers: { 200: { schema: z.array(userCredentialSchema) } },
    part: (user) => user.webauthn_credentials ?? [],
  }),
  userOperation(`GET ${credential}`, {
    id: "getUserCredential",
    summary: "Get a passkey or security key of a user",
    params,
    answers: { 200: { schema: userCredentialSchema } },
    part: (user, params) => user.webauthn_credentials?.find(({ id }) => id === params.credential_id),
  }),
  changeOperation(`PATCH ${credential}`, {
    id: "renameUserCredential",
    summary: "Rename a passkey or security key of a user",
    params,
    body: z.strictObject({
      name: z
        .string()
        .trim()
        .min(1)
        .max(64)
        .refine((name) => !/\p{Cc}/u.test(name), "must be one line"),
    }),
    answers: { 200: { schema: userCredentialSchema } },
    perform: (context, { params, body }) =>
      renameUserCredential(context, params.id, { id: params.credential_id, name: body.name }),
    show: ({ credential }) => credential,
  }),
  changeOperation(`DELETE ${credential}`, {
    id: "deleteUserCredential",
    summary: "Remove a passkey or security key of a user",
    params,
    answers: { 204: "The credential is removed." },
    perform: (context, { params }) => removeUserCredential(context, params.id, params.credential_id),
  }),
  userOperation("GET /admin/users/{id}/identities", {
    id: "listUserIdentities",
    summary: "List the identities of a user at identity providers, oldest first",
    answers: { 200: { schema: z.array(userIdentitySchema) } },
    part: (user) => user.identities ?? [],
  }),
  changeOperation("DELETE /admin/users/{id}/identities/{identity_id}", {
    id: "deleteUserIdentity",
    summary: "Disconnect an identity of a user",
    answers: { 204: "The identity is disconnected." },
    perform: (context, { params }) => removeUserIdentity(context, params.id, params.identity_id),
  }),
];
