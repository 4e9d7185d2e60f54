import { handlersOf } from "../../handlers-of.ts";

/** SAML: metadata for the provider's operator. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/saml/metadata");

export const dynamic = "force-dynamic";
