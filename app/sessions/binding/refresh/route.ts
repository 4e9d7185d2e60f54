import { handlersOf } from "../../../handlers-of.ts";

/** Renews the bound cookie of a session. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/sessions/binding/refresh");

export const dynamic = "force-dynamic";
