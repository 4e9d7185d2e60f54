import { handlersOf } from "./handlers-of.ts";

/** The hosted sign-in page. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/");

export const dynamic = "force-dynamic";
