import { handlersOf } from "../../../handlers-of.ts";

/** Files of a tenant's theme. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/theme/{version}/{file}");

export const dynamic = "force-dynamic";
