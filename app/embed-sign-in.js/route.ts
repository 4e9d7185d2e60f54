import { handlersOf } from "../handlers-of.ts";

/** The part of the loader that signs in at once. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/embed-sign-in.js");

export const dynamic = "force-dynamic";
