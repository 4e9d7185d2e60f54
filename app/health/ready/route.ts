import { handlersOf } from "../../handlers-of.ts";

/** Readiness. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/health/ready");

export const dynamic = "force-dynamic";
