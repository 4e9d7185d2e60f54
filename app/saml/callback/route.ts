import { handlersOf } from "../../handlers-of.ts";

/** SAML: returns from a provider. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/saml/callback");

export const dynamic = "force-dynamic";
