import { handlersOf } from "../handlers-of.ts";

/** The page that confirms a transaction. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/confirm");

export const dynamic = "force-dynamic";
