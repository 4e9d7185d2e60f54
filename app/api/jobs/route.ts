import { handlersOf } from "../../handlers-of.ts";

/** Runs due jobs, for a scheduler. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/api/jobs");

export const dynamic = "force-dynamic";
