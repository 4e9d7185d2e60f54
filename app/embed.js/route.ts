import { handlersOf } from "../handlers-of.ts";

/** The loader of the frame. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/embed.js");

export const dynamic = "force-dynamic";
