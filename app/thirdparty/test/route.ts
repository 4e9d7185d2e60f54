import { handlersOf } from "../../handlers-of.ts";

/** Begins the test sign-in at a provider, at the host of the tenant. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/thirdparty/test");

export const dynamic = "force-dynamic";
