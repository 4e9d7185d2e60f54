import { handlersOf } from "../../handlers-of.ts";

/** The passkey server. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/passkeys/*");

export const dynamic = "force-dynamic";
