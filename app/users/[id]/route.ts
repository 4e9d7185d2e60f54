import { handlersOf } from "../../handlers-of.ts";

/** The user of a session, by their id. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/users/{id}");

export const dynamic = "force-dynamic";
