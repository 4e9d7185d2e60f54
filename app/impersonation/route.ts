import { handlersOf } from "../handlers-of.ts";

/** The page on which an operator signs in as a user. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/impersonation");

export const dynamic = "force-dynamic";
