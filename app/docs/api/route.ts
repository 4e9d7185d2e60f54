import { handlersOf } from "../../handlers-of.ts";

/** The description of the interface as a page. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/docs/api");

export const dynamic = "force-dynamic";
