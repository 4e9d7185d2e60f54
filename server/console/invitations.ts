import { and, eq, gt } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { hasOperator } from "./grants.ts";
import { consoleOrigin } from "./place.ts";

/** The link by which a service without operators gets its first one. */

const { consoleInvitations } = schema;

/** How long the link may be used. */
const LIFETIME_MS = 10 * 60_000;

/**
 * Makes the link, which is valid for ten minutes and once.
 *
 * @returns null if there is an operator, or no console
 */
export async function firstOperatorLink(
  runtime: Databases & Configured & OnPlatform & { tenant: Pick<Tenant, "id"> },
  now: Date,
): Promise<string | null> {
  const { database, config, platform } = runtime;
  if (!config.console.enabled || (await hasOperator(database.read, runtime))) return null;
  const token = randomToken(platform);
  const expiresAt = new Date(now.getTime() + LIFETIME_MS);
  await database.write
    .insert(consoleInvitations)
    .values({ tokenHash: sha256(token), createdAt: now, expiresAt });
  return `${consoleOrigin(config)}/api/console/sign-in?invitation=${token}`;
}

/** Why a link makes no operator: there is one, or the link was used, has expired or was never made. */
export type InvitationRefusal = "operator_exists" | "invitation_used";

/**
 * Judges a link without using it up, so that no user signs in for one that is worth nothing.
 *
 * @param token untrusted
 * @returns null if it is valid
 */
export async function judgeInvitation(
  {
    database,
    config,
    platform,
    tenant,
  }: Databases & Configured & OnPlatform & { tenant: Pick<Tenant, "id"> },
  token: string,
): Promise<InvitationRefusal | null> {
  // Not from a standby: the link may have been made a moment ago.
  const { write } = database;
  if (await hasOperator(write, { config, tenant })) return "operator_exists";
  const found = await write
    .select({ expiresAt: consoleInvitations.expiresAt })
    .from(consoleInvitations)
    .where(isValid(platform, token));
  return found.length > 0 ? null : "invitation_used";
}

/**
 * Uses a link up.
 *
 * @returns whether it was valid
 */
export async function consumeInvitation(
  tx: Transaction,
  { platform }: OnPlatform,
  token: string,
): Promise<boolean> {
  const used = await tx
    .delete(consoleInvitations)
    .where(isValid(platform, token))
    .returning({ expiresAt: consoleInvitations.expiresAt });
  return used.length > 0;
}

const isValid = (platform: OnPlatform["platform"], token: string) =>
  and(
    eq(consoleInvitations.tokenHash, sha256(token)),
    gt(consoleInvitations.expiresAt, databaseNow(platform.clockShift())),
  );
