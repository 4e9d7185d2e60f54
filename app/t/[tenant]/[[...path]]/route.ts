import { handlersOf } from "../../../handlers-of.ts";

/** Every address of a tenant without a host name of its own. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/t/{tenant}/*");

export const dynamic = "force-dynamic";
