import { handlersOf } from "../../handlers-of.ts";

/** Files of the hosted pages. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/assets/{file}");

export const dynamic = "force-dynamic";
