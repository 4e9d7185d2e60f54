import { handlersOf } from "../handlers-of.ts";

/** The page of a frame. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/embed");

export const dynamic = "force-dynamic";
