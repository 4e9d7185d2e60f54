import { handlersOf } from "../handlers-of.ts";

/** The flow of a registration. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/registration");

export const dynamic = "force-dynamic";
