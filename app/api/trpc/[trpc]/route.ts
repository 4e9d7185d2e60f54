import { handlersOf } from "../../../handlers-of.ts";

/** tRPC: the procedures of a flow. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/api/trpc/{procedure}");

export const dynamic = "force-dynamic";
