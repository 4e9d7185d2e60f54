import { removeUser } from "../../passkey-server/users.ts";
import { type Handler, requestContextOf } from "../table/handler-context.ts";
import { rejectionReply } from "./request.ts";

/** `DELETE users/{user_id}`: deletes a user with everything stored for it. */
export const removeUserHandler: Handler = async (context) => {
  const removed = await removeUser(await requestContextOf(context), context.params.user_id ?? "");
  return removed.ok ? { status: 204 } : rejectionReply(removed);
};
