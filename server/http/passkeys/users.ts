import { removeUser } from "../../passkey-server/users.ts";
import { type Handler, requestContextOf } from "../table/handler-context.ts";
import { verdictReply } from "./request.ts";

/** `DELETE users/{user_id}`: deletes a user with everything stored for it. */
export const removeUserHandler: Handler = async (context) =>
  verdictReply(await removeUser(await requestContextOf(context), context.params.user_id ?? ""));
