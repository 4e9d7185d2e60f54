import { z } from "zod";
import { patchMetadata, patchUnsafeMetadata } from "../../identity/metadata.ts";
import { STAY } from "../names.ts";
import { refuse, stay } from "../outcome.ts";
import { ownAction } from "./profile-action.ts";

/** What comes of it is judged with what is there. Null counts as absent here, as in every input: members go one by one. */
const patch = z
  .unknown()
  .refine((value) => typeof value === "object" && !Array.isArray(value), "invalid_metadata_error")
  .meta({ input: "json", hidden: false, announcedRequired: true });

/** What people keep with their account for applications to read. */
export const metadataActions = {
  patch_metadata: ownAction({
    description: "Change the account's own metadata by a JSON Merge Patch (RFC 7396).",
    input: z.strictObject({ patch_metadata: patch }),
    to: [STAY],
    errors: ["invalid_metadata_error"],
    run({ request, account }, given) {
      const { profile } = account;
      const current = profile.metadata?.unsafe_metadata ?? {};
      if (patchMetadata(current, given.patch_metadata) === null) {
        return refuse("invalid_metadata_error", { input: "patch_metadata" });
      }
      return stay({ writes: [patchUnsafeMetadata(request, profile.id, given.patch_metadata)] });
    },
  }),
};
