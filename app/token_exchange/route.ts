import { handlersOf } from "../handlers-of.ts";

/** The flow after the return from an identity provider. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/token_exchange");

export const dynamic = "force-dynamic";
