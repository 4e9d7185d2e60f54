import { handlersOf } from "../handlers-of.ts";

/** The flow that asks a user about an application. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/consent");

export const dynamic = "force-dynamic";
