import { handlersOf } from "../handlers-of.ts";

/** The description of the interface (OpenAPI). */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/openapi.json");

export const dynamic = "force-dynamic";
