import { handlersOf } from "../handlers-of.ts";

/** Forms of the hosted pages. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/step");

export const dynamic = "force-dynamic";
