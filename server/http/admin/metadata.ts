import { z } from "zod";
import { notFound } from "../../admin/rejections.ts";
import { patchUserMetadata } from "../../admin/user-metadata.ts";
import { readUserObject, type UserObject, userMetadataSchema } from "../../objects/user-object.ts";
import { json, type Reply } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { adminOperation, changeOperation, NOT_FOUND, noContent, rejectionReply } from "./admin-operation.ts";

const tag = "admin: users";
const path = "/admin/users/{id}/metadata";
const params = z.object({ id: uuid() });

const kind = () =>
  z
    .record(z.string(), z.unknown())
    .nullish()
    .describe(
      "A JSON Merge Patch (RFC 7396) of this kind, at most 3000 characters after it; null clears it.",
    );

const patch = z
  .strictObject({ public_metadata: kind(), private_metadata: kind(), unsafe_metadata: kind() })
  .nullable();

const answers = { 200: { schema: userMetadataSchema }, 204: "The user has no metadata.", 404: NOT_FOUND };

function show(metadata: UserObject["metadata"]): Reply {
  return metadata ? json(200, metadata) : noContent();
}

/** Metadata of users. */
export const metadataAddresses = [
  adminOperation(
    {
      method: "GET",
      path,
      id: "getUserMetadata",
      summary: "Get the metadata of a user",
      tag,
      params,
      answers,
    },
    async ({ runtime, tenant }, { params }) => {
      const user = await readUserObject(runtime.database.read, tenant, params.id);
      return user ? show(user.metadata) : rejectionReply(notFound);
    },
  ),
  changeOperation(
    {
      method: "PATCH",
      path,
      id: "patchUserMetadata",
      summary: "Change the metadata of a user",
      description: "An object patches the kinds that it names; null clears all of them.",
      tag,
      params,
      body: patch,
      answers,
    },
    (context, { params, body }) => patchUserMetadata(context, params.id, body),
    ({ metadata }) => show(metadata),
  ),
];
