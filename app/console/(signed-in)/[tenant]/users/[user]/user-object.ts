import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";

/** A user as its page shows it. */
export type UserObject = AdminOperations["getUser"]["answer"];
