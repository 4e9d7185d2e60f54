import { handlersOf } from "../../../handlers-of.ts";

/** What the pages of the console call. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/api/console/*");

export const dynamic = "force-dynamic";
