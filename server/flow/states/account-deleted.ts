import { state } from "../define.ts";

/** The account and all its data are deleted. */
export const accountDeleted = state({ name: "account_deleted", actions: () => ({}) });
