import type { Address } from "../address.ts";
import { requireAdminKey } from "./admin-key.ts";
import { apiKeyAddresses } from "./api-keys.ts";
import { auditLogAddresses } from "./audit-logs.ts";
import { oauthProviderAddresses, samlProviderAddresses } from "./identity-providers.ts";
import { sessionAddresses } from "./sessions.ts";
import { statisticsAddresses } from "./statistics.ts";
import { tenantAddresses } from "./tenants.ts";
import { userAddresses } from "./users.ts";

/**
 * The administration interface (docs/administration.md), one file of rows per subject. Every address requires a key of
 * the interface `admin`.
 */
export const adminAddresses: readonly Address[] = [
  ...userAddresses,
  ...sessionAddresses,
  ...auditLogAddresses,
  ...tenantAddresses,
  ...samlProviderAddresses,
  ...oauthProviderAddresses,
  ...apiKeyAddresses,
  ...statisticsAddresses,
].map((row) => ({
  ...row,
  handler: requireAdminKey(row.handler),
}));
