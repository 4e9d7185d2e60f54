import type { Address } from "../table/address.ts";
import { requireAdminKey } from "./admin-key.ts";
import { apiKeyAddresses } from "./api-keys.ts";
import { auditLogAddresses } from "./audit-logs.ts";
import { credentialAddresses } from "./credentials.ts";
import { emailAddresses } from "./emails.ts";
import { oauthProviderAddresses, samlProviderAddresses } from "./identity-providers.ts";
import { metadataAddresses } from "./metadata.ts";
import { passwordAddresses } from "./passwords.ts";
import { phoneNumberAddresses } from "./phone-numbers.ts";
import { secondFactorAddresses } from "./second-factors.ts";
import { sessionAddresses } from "./sessions.ts";
import { statisticsAddresses } from "./statistics.ts";
import { tenantAddresses } from "./tenants.ts";
import { usernameAddresses } from "./usernames.ts";
import { userAddresses } from "./users.ts";
import { webhookAddresses } from "./webhooks.ts";

/**
 * The administration interface (docs/administration.md), one file of rows per subject. Every address requires a key of
 * the interface `admin`.
 */
export const adminAddresses: readonly Address[] = [
  ...userAddresses,
  ...emailAddresses,
  ...usernameAddresses,
  ...phoneNumberAddresses,
  ...metadataAddresses,
  ...credentialAddresses,
  ...passwordAddresses,
  ...secondFactorAddresses,
  ...sessionAddresses,
  ...auditLogAddresses,
  ...tenantAddresses,
  ...samlProviderAddresses,
  ...oauthProviderAddresses,
  ...apiKeyAddresses,
  ...statisticsAddresses,
  ...webhookAddresses,
].map((row) => ({
  ...row,
  handler: requireAdminKey(row.handler),
}));
