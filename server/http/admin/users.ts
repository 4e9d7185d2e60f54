import { z } from "zod";
import { readUserObject, userObjectSchema } from "../../account/user-object.ts";
import { notFound } from "../../admin/rejections.ts";
import { blockUser, unblockUser } from "../../admin/user-blocking.ts";
import { uuid } from "../fields.ts";
import { clientContext } from "../handler-context.ts";
import { json } from "../reply.ts";
import { adminOperation, NOT_FOUND, rejectionReply } from "./admin-operation.ts";

const params = z.object({ id: uuid() });
const user = { schema: userObjectSchema };

/** Users. */
export const userAddresses = [
  adminOperation(
    {
      method: "GET",
      path: "/admin/users/{id}",
      id: "getUser",
      summary: "Get a user",
      tag: "admin: users",
      params,
      answers: { 200: user, 404: NOT_FOUND },
    },
    async ({ runtime, tenant }, { params }) => {
      const found = await readUserObject(runtime.database.read, tenant.id, params.id);
      return found ? json(200, found) : rejectionReply(notFound);
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/users/{id}/block",
      id: "blockUser",
      summary: "Block a user",
      description:
        "Ends the user's sessions, trusted browsers and unfinished sign-ins at once. A blocked user gets no session by any login method; the credentials stay. A second call changes nothing.",
      tag: "admin: users",
      params,
      answers: { 200: user, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const blocked = await blockUser(await clientContext(context), params.id);
      return blocked.ok ? json(200, blocked.user) : rejectionReply(blocked);
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/users/{id}/unblock",
      id: "unblockUser",
      summary: "End the block of a user",
      description: "The user can sign in again. A second call changes nothing.",
      tag: "admin: users",
      params,
      answers: { 200: user, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const unblocked = await unblockUser(await clientContext(context), params.id);
      return unblocked.ok ? json(200, unblocked.user) : rejectionReply(unblocked);
    },
  ),
];
