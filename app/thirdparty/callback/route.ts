import { handlersOf } from "../../handlers-of.ts";

/** Returns from identity providers with OAuth and OpenID Connect. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/thirdparty/callback");

export const dynamic = "force-dynamic";
