import { handlersOf } from "../../handlers-of.ts";

/** Goes on with a sign-out at an identity provider. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/logout/provider");

export const dynamic = "force-dynamic";
