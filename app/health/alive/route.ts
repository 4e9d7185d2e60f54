import { handlersOf } from "../../handlers-of.ts";

/** Liveness. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/health/alive");

export const dynamic = "force-dynamic";
