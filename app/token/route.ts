import { handlersOf } from "../handlers-of.ts";

/** Redeems an authorization code. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/token");

export const dynamic = "force-dynamic";
