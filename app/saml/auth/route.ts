import { handlersOf } from "../../handlers-of.ts";

/** SAML: begins a sign-in at a provider. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/saml/auth");

export const dynamic = "force-dynamic";
