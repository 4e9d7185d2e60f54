import { handlersOf } from "../handlers-of.ts";

/** Validates a session for a reverse proxy. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/forward-auth");

export const dynamic = "force-dynamic";
