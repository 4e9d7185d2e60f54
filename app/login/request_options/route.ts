import { handlersOf } from "../../handlers-of.ts";

/** The options of a passkey login that is not started. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/login/request_options");

export const dynamic = "force-dynamic";
