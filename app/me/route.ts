import { handlersOf } from "../handlers-of.ts";

/** The user of a session. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/me");

export const dynamic = "force-dynamic";
