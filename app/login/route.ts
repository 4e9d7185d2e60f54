import { handlersOf } from "../handlers-of.ts";

/** The flow of a sign-in. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/login");

export const dynamic = "force-dynamic";
