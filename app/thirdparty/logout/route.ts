import { handlersOf } from "../../handlers-of.ts";

/** Returns from the sign-out at a provider with OpenID Connect. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/thirdparty/logout");

export const dynamic = "force-dynamic";
