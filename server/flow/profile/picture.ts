import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { all, circumstance } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { MAX_PICTURE_CHARACTERS, readPicture, setUploadedPicture } from "../../identity/picture.ts";
import { updateUserProfile } from "../../identity/users.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import { type ProfileView, profileAction } from "./profile-action.ts";

/** A square baseline JPEG of 32 to 512 pixels in base64url. */
const picture = z
  .string()
  .max(MAX_PICTURE_CHARACTERS)
  .regex(/^[\w-]+$/)
  .transform((text, { addIssue }) => {
    const read = readPicture(text);
    if (read) return read;
    addIssue("is no picture that this server accepts");
    return z.NEVER;
  });

const given = z.strictObject({ picture });

/** Profile actions on the picture. */
export const pictureActions = {
  picture_update: profileAction({
    impersonated: true,
    description: "Set the picture: a square baseline JPEG of 32 to 512 pixels, in base64url.",
    costs: ["write"],
    input: given,
    when: configured("account.allow_picture_change"),
    to: [STAY],
    run({ request, account }, { picture }) {
      const { id: userId } = account.profile;
      const change = { userId, id: request.runtime.platform.uuid(), picture, now: request.now };
      return stay({
        writes: [
          (tx) => setUploadedPicture(tx, request.tenant.id, change),
          audit(request, "profile_changed", { by: "profile" }, userId),
          emit(request, "user.update", userId),
        ],
      });
    },
  }),
  picture_delete: profileAction({
    impersonated: true,
    description: "Remove the picture.",
    costs: ["write"],
    when: all(
      configured("account.allow_picture_change"),
      circumstance<ProfileView>("picture", ({ account }) => account.profile.picture !== undefined, {
        holds: "the account has a picture",
        fails: "the account has no picture",
      }),
    ),
    to: [STAY],
    run({ request, account }) {
      const { id: userId } = account.profile;
      const names = { name: undefined, givenName: undefined, familyName: undefined };
      const change = { userId, now: request.now, ...names, picture: null };
      return stay({
        writes: [
          (tx) => updateUserProfile(tx, request.tenant.id, change),
          audit(request, "profile_changed", { by: "profile" }, userId),
          emit(request, "user.update", userId),
        ],
      });
    },
  }),
};
