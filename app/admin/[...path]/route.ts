import { handlersOf } from "../../handlers-of.ts";

/** The administration interface. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/admin/*");

export const dynamic = "force-dynamic";
