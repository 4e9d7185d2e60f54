import { handlersOf } from "../handlers-of.ts";

/** The page on which users enter the codes of devices. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/device");

export const dynamic = "force-dynamic";
