import { handlersOf } from "../handlers-of.ts";

/** The flow of the account. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/profile");

export const dynamic = "force-dynamic";
