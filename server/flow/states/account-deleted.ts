import { state } from "../define.ts";

/** The account is gone, and with it everything that was in it. */
export const accountDeleted = state({ name: "account_deleted", actions: () => ({}) });
