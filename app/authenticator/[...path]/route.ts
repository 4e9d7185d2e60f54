import { handlersOf } from "../../handlers-of.ts";

/** Authenticator requests. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/authenticator/*");

export const dynamic = "force-dynamic";
