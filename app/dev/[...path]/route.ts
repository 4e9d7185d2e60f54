import { handlersOf } from "../../handlers-of.ts";

/** Pages of development. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/dev/*");

export const dynamic = "force-dynamic";
