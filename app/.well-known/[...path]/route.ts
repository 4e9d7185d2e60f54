import { handlersOf } from "../../handlers-of.ts";

/** Well-known addresses (RFC 8615). */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/.well-known/*");

export const dynamic = "force-dynamic";
