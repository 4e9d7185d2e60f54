import { findPicture } from "../../identity/picture.ts";
import { isCanonicalUuid } from "../../lib/uuid.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/**
 * `GET /users/pictures/{picture}`: a picture that a user has uploaded. Its address is random, changes with the picture, and
 * is known to those who know the account; pages of any origin may show it. After a removal it is in caches of browsers
 * for a day at most.
 */
export const pictureHandler: Handler = async ({ runtime, tenant, params }) => {
  const id = params.picture ?? "";
  const found = isCanonicalUuid(id) ? await findPicture(runtime.database.read, tenant.id, id) : null;
  if (!found) return plainError(404, "Not found.");
  return new Response(new Uint8Array(found), {
    headers: {
      "Content-Type": "image/jpeg",
      "Content-Disposition": 'inline; filename="picture.jpg"',
      "Cache-Control": "private, max-age=86400, immutable",
      "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
  });
};
