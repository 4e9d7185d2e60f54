import { handlersOf } from "../../../handlers-of.ts";

/** Pictures of users. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlersOf("/users/pictures/{picture}");

export const dynamic = "force-dynamic";
