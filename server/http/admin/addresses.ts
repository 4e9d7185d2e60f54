import type { Address, Tag } from "../table/address.ts";
import { tagged, type UntaggedRow } from "../table/operation.ts";
import { requireAdminKey } from "./admin-key.ts";
import { apiKeyAddresses } from "./api-keys.ts";
import { openidAccessAddresses, userApplicationAddresses } from "./application-accesses.ts";
import { auditLogAddresses } from "./audit-logs.ts";
import { consoleRoleAddresses } from "./console-roles.ts";
import { credentialAddresses } from "./credentials.ts";
import { emailAddresses } from "./emails.ts";
import { flowAddresses } from "./flows.ts";
import { funnelAddresses } from "./funnel.ts";
import { importAddresses } from "./imports.ts";
import { keyAddresses } from "./keys.ts";
import { messageAddresses } from "./messages.ts";
import { metadataAddresses } from "./metadata.ts";
import { oauthProviderAddresses } from "./oauth-providers.ts";
import { openidClientAddresses } from "./openid-clients.ts";
import { overviewAddresses } from "./overview.ts";
import { passwordAddresses } from "./passwords.ts";
import { phoneNumberAddresses } from "./phone-numbers.ts";
import { previewAddresses } from "./previews.ts";
import { providerTestAddresses } from "./provider-tests.ts";
import { samlProviderAddresses } from "./saml-providers.ts";
import { secondFactorAddresses } from "./second-factors.ts";
import { sessionAddresses } from "./sessions.ts";
import { statisticsAddresses } from "./statistics.ts";
import { tenantSettingsAddresses } from "./tenant-settings.ts";
import { tenantAddresses } from "./tenants.ts";
import { timelineAddresses } from "./timeline.ts";
import { usernameAddresses } from "./usernames.ts";
import { userAddresses } from "./users.ts";
import { webhookAddresses } from "./webhooks.ts";

/** The rows of each subject, and their group in the document. */
const subjects: readonly [Tag, UntaggedRow[]][] = [
  ["admin: users", userAddresses],
  ["admin: users", timelineAddresses],
  ["admin: users", emailAddresses],
  ["admin: users", usernameAddresses],
  ["admin: users", phoneNumberAddresses],
  ["admin: users", metadataAddresses],
  ["admin: users", credentialAddresses],
  ["admin: users", passwordAddresses],
  ["admin: users", secondFactorAddresses],
  ["admin: users", userApplicationAddresses],
  ["admin: users", consoleRoleAddresses],
  ["admin: users", importAddresses],
  ["admin: sessions", sessionAddresses],
  ["admin: audit log", auditLogAddresses],
  ["admin: audit log", flowAddresses],
  ["admin: tenants", tenantAddresses],
  ["admin: tenants", tenantSettingsAddresses],
  ["admin: tenants", samlProviderAddresses],
  ["admin: tenants", oauthProviderAddresses],
  ["admin: tenants", providerTestAddresses],
  ["admin: tenants", openidClientAddresses],
  ["admin: tenants", openidAccessAddresses],
  ["admin: tenants", apiKeyAddresses],
  ["admin: tenants", keyAddresses],
  ["admin: audit log", messageAddresses],
  ["admin: tenants", previewAddresses],
  ["admin: audit log", statisticsAddresses],
  ["admin: audit log", overviewAddresses],
  ["admin: audit log", funnelAddresses],
  ["admin: webhooks", webhookAddresses],
];

/**
 * The administration interface (docs/administration.md), one file of rows per subject. Every address requires a key of
 * the interface `admin`.
 */
export const adminAddresses: readonly Address[] = subjects.flatMap(([tag, rows]) =>
  rows.map((row) => tagged(tag, { ...row, handler: requireAdminKey(row.handler) })),
);
