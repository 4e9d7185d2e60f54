import { handlersOf } from "../../handlers-of.ts";

/** Validates a session. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/sessions/validate");

export const dynamic = "force-dynamic";
