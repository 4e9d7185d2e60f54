import type { AdminOperations } from "../../../packages/server/src/interface.ts";

type User = AdminOperations["listUsers"]["answer"]["items"][number];

/** What a user is called in lists: the primary address, or what there is in place of one. */
export const userName = (user: Pick<User, "id" | "emails" | "username" | "phone_number">): string =>
  user.emails?.[0]?.address ?? user.username?.username ?? user.phone_number ?? user.id;
