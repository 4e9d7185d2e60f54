import { handlersOf } from "../../handlers-of.ts";

/** Binds a session to a device. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/sessions/binding");

export const dynamic = "force-dynamic";
