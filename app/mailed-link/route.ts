import { handlersOf } from "../handlers-of.ts";

/** The page of the link in a mail. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/mailed-link");

export const dynamic = "force-dynamic";
