import { handlersOf } from "../../handlers-of.ts";

/** The OpenID provider. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/oauth/*");

export const dynamic = "force-dynamic";
