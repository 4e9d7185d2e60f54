import { Badge } from "@mantine/core";
import type { AdminOperations } from "../../../packages/server/src/interface.ts";
import { words } from "../_words.ts";

type User = AdminOperations["listUsers"]["answer"]["items"][number];

/** Whether a user is blocked, has no verified address, or neither. */
export function UserStatus({ user }: { user: Pick<User, "blocked_at" | "emails"> }) {
  if (user.blocked_at)
    return (
      <Badge variant="light" color="red">
        {words.users.status.blocked}
      </Badge>
    );
  const isVerified = !user.emails || user.emails.some(({ is_verified }) => is_verified);
  return (
    <Badge variant="light" color={isVerified ? "teal" : "yellow"}>
      {isVerified ? words.users.status.active : words.users.status.unverified}
    </Badge>
  );
}
