import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Databases, Transaction } from "#db/client";
import { clockText, databaseNow } from "#db/clock";
import { queryPrepared } from "#db/prepared";
import { openidArtifacts } from "#db/schema/openid";
import { logoutAddress } from "../config/logout-channels.ts";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isRandomToken, randomToken } from "../lib/random-token.ts";
import { type ApplicationSession, logOut } from "../sessions/log-out.ts";
import { providerLogoutUrl } from "../sessions/provider-sessions.ts";
import { artifactSeals } from "./artifact-storage.ts";
import { identifierHash } from "./identifier-hash.ts";

/**
 * Sign-outs of applications in the browser (OpenID Connect Front-Channel Logout 1.0). The sessions have ended before: what is
 * kept here tells the browser which pages to load, and where it goes on.
 */

const KIND = "ApplicationsLogout";

/** How long the browser may take to open the page, or open it again. */
const LIFETIME_SECONDS = 120;

const storedLogout = z.object({
  applications: z.array(z.object({ clientId: z.string(), sid: z.string() })),
  next: z.string().nullable(),
});

export interface ApplicationsLogout {
  applications: readonly ApplicationSession[];
  /** Where the browser goes on, already checked; null if it stays at the page. */
  next: string | null;
}

/** The addresses at which a browser goes on after a sign-out, by their `state`; null for one that it does not go to. */
export interface BrowserSignOut {
  /** The page that signs it out of applications, which leads to the provider. */
  applicationsState: string | null;
  /** The first sign-out at a provider. */
  providerState: string | null;
}

/**
 * Ends the sessions of a browser, and stores what it goes on with, in one transaction: a sign-out that fails ends no session,
 * and can be repeated.
 *
 * @param redirectTo where the browser goes on in the end, already checked; null for a page of this service
 */
export function logOutInBrowser(
  context: Parameters<typeof logOut>[1],
  found: Parameters<typeof logOut>[2]["found"],
  redirectTo: string | null,
): Promise<BrowserSignOut> {
  const { runtime, tenant } = context;
  return runtime.database.write.transaction(async (tx) => {
    const { state, applications } = await logOut(tx, context, { found, leaving: { redirectTo } });
    const next = state === null ? redirectTo : providerLogoutUrl(tenant.config, state);
    const applicationsState =
      applications.length === 0 ? null : await storeApplicationsLogout(tx, context, { applications, next });
    return { applicationsState, providerState: state };
  });
}

/**
 * Stores a sign-out of applications for the browser that goes on with it.
 *
 * @returns `state` of the page: 43 characters of base64url, valid for two minutes, stored as a hash
 */
async function storeApplicationsLogout(
  tx: Transaction,
  { runtime, tenant }: TenantContext<Sealing & OnPlatform>,
  { applications, next }: ApplicationsLogout,
): Promise<string> {
  const { platform } = runtime;
  const state = randomToken(platform);
  const idHash = identifierHash(state);
  const now = databaseNow(platform.clockShift());
  await tx.insert(openidArtifacts).values({
    tenantId: tenant.id,
    kind: KIND,
    idHash,
    payload: artifactSeals({ runtime, tenant }, KIND).seal({ applications, next }, idHash),
    createdAt: now,
    expiresAt: sql`${now} + ${LIFETIME_SECONDS}::int * interval '1 second'`,
  });
  return state;
}

/**
 * Reads a sign-out. It can be read again, so that a page that is reloaded shows the same.
 *
 * @returns null if its `state` is unknown or older than two minutes
 */
export async function findApplicationsLogout(
  { runtime, tenant }: TenantContext<Databases & Sealing & OnPlatform>,
  state: string,
): Promise<ApplicationsLogout | null> {
  if (!isRandomToken(state)) return null;
  const idHash = identifierHash(state);
  const values = [tenant.id, KIND, idHash, runtime.platform.clockShift()];
  // The primary: the browser comes here at once after the sign-out.
  const query = { name: "openid_applications_logout", text: findText, values };
  const [row] = await queryPrepared<{ payload: Buffer }, "claim">(runtime.database, "claim", query);
  return row ? storedLogout.parse(artifactSeals({ runtime, tenant }, KIND).read(row.payload, idHash)) : null;
}

const findText = `
  select payload from openid_artifacts
  where tenant_id = $1 and kind = $2 and id_hash = $3 and expires_at > ${clockText("$4")}`;

/**
 * Returns the addresses that sign a browser out of applications: those of the clients, with `iss` and `sid` (2). A client that
 * has none any more is left out.
 */
export function logoutAddresses(
  { config }: Pick<Tenant, "config">,
  applications: readonly ApplicationSession[],
): string[] {
  return applications.flatMap(({ clientId, sid }) => {
    const address = logoutAddress(config, clientId, "frontchannel_logout_uri");
    if (address === null) return [];
    const query = new URLSearchParams({ iss: config.base_url, sid });
    // The query of the client stays as it is written.
    return [`${address}${address.includes("?") ? "&" : "?"}${query}`];
  });
}
