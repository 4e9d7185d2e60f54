import { handlersOf } from "../../handlers-of.ts";

/** SAML: single logout. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/saml/logout");

export const dynamic = "force-dynamic";
