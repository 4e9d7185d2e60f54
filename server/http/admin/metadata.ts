import { z } from "zod";
import { patchUserMetadata } from "../../admin/user-metadata.ts";
import { readUserObject, userMetadataSchema } from "../../objects/user-object.ts";
import { adminOperation, changeOperation } from "./admin-operation.ts";

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

const answers = { 200: { schema: userMetadataSchema }, 204: "The user has no metadata." };

/** Metadata of users. */
export const metadataAddresses = [
  adminOperation("GET /admin/users/{id}/metadata", {
    id: "getUserMetadata",
    summary: "Get the metadata of a user",
    answers,
    perform: ({ runtime, tenant }, { params }) => readUserObject(runtime.database.read, tenant, params.id),
    show: ({ metadata }) => metadata,
  }),
  changeOperation("PATCH /admin/users/{id}/metadata", {
    id: "patchUserMetadata",
    summary: "Change the metadata of a user",
    description: "An object patches the kinds that it names; null clears all of them.",
    body: patch,
    answers,
    perform: (context, { params, body }) => patchUserMetadata(context, params.id, body),
    show: ({ metadata }) => metadata,
  }),
];
