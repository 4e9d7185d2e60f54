import { handlersOf } from "../handlers-of.ts";

/** Ends a session. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/logout");

export const dynamic = "force-dynamic";
