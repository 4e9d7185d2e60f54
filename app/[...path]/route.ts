import { handlersOf } from "../handlers-of.ts";

/** Every other path: the page for unknown addresses, and errors. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/*");

export const dynamic = "force-dynamic";
