import { and, desc, isNotNull } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { openDeviceToken } from "./request-tokens.ts";
import { isAnswerable, type RequestRow } from "./requests.ts";

const { authenticatorRequests: requests } = schema;

/**
 * Lists the pending requests of all tenants, newest first, with the tokens for their answers. Only for the played
 * authenticator of development.
 */
export async function pendingRequests(
  { database, platform, vault }: Databases & OnPlatform & Sealing,
  limit = 50,
): Promise<(RequestRow & { deviceToken: string })[]> {
  const rows = await database.read
    .select()
    .from(requests)
    // Without a challenge, a response is being verified.
    .where(and(isAnswerable({ platform }), isNotNull(requests.challenge)))
    .orderBy(desc(requests.createdAt), desc(requests.id))
    .limit(limit);
  return rows.flatMap((row) => {
    const { tenantId, id, sealedDeviceToken: sealed } = row;
    const deviceToken = sealed && openDeviceToken({ vault }, { tenant: { id: tenantId }, id }, sealed);
    return deviceToken ? [{ ...row, deviceToken }] : [];
  });
}
