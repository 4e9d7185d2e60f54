import { z } from "zod";
import { emit } from "../../events/emit.ts";
import { patchMetadata, patchUnsafeMetadata } from "../../identity/metadata.ts";
import { STAY } from "../names.ts";
import { reject, stay } from "../outcome.ts";
import { profileAction } from "./profile-action.ts";

/** A JSON Merge Patch. Null counts as absent, as in every input; only members can be removed. */
const patch = z
  .unknown()
  .refine((value) => typeof value === "object" && !Array.isArray(value), "invalid_metadata_error")
  .meta({ input: "json", hidden: false, announcedRequired: true });

/** Profile action on metadata that the user may change. */
export const metadataActions = {
  patch_metadata: profileAction({
    impersonated: true,
    description: "Change the account's own metadata by a JSON Merge Patch (RFC 7396).",
    costs: ["write"],
    input: z.strictObject({ patch_metadata: patch }),
    to: [STAY],
    errors: ["invalid_metadata_error"],
    run({ request, account }, { patch_metadata }) {
      const { profile } = account;
      const current = profile.metadata?.unsafe_metadata ?? {};
      if (patchMetadata(current, patch_metadata) === null) {
        return reject("invalid_metadata_error", { input: "patch_metadata" });
      }
      return stay({
        writes: [
          patchUnsafeMetadata(request, profile.id, patch_metadata),
          emit(request, "user.update", profile.id),
        ],
      });
    },
  }),
};
