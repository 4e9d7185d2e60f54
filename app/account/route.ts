import { handlersOf } from "../handlers-of.ts";

/** The account page. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/account");

export const dynamic = "force-dynamic";
