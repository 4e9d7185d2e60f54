import type { Address } from "../address.ts";
import { requireAdminKey } from "./admin-key.ts";
import { auditLogAddresses } from "./audit-logs.ts";
import { sessionAddresses } from "./sessions.ts";
import { userAddresses } from "./users.ts";

/**
 * The administration interface (docs/administration.md), one file of rows per subject. Every address requires a key of
 * the interface `admin`.
 */
export const adminAddresses: readonly Address[] = [
  ...userAddresses,
  ...sessionAddresses,
  ...auditLogAddresses,
].map((row) => ({
  ...row,
  handler: requireAdminKey(row.handler),
}));
