import { and, desc, isNotNull } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Location } from "../locations/location.ts";
import { openDeviceToken } from "./request-tokens.ts";
import { isAnswerable } from "./requests.ts";

const { authenticatorRequests: requests } = schema;

/** A request that can still be answered, with the token for it. */
export interface PendingRequest {
  tenantId: string;
  id: string;
  operation: string;
  username: string;
  userId: string;
  transaction: string | null;
  location: Location | null;
  createdAt: Date;
  validUntil: Date;
  deviceToken: string;
}

const shown = {
  tenantId: requests.tenantId,
  id: requests.id,
  operation: requests.operation,
  username: requests.username,
  userId: requests.userId,
  transaction: requests.transaction,
  location: requests.location,
  createdAt: requests.createdAt,
  validUntil: requests.validUntil,
  sealed: requests.sealedDeviceToken,
};

/**
 * Lists the pending requests of all tenants, newest first. Only for the played authenticator of development.
 */
export async function pendingRequests(
  { database, platform, vault }: Databases & OnPlatform & Sealing,
  limit = 50,
): Promise<PendingRequest[]> {
  const rows = await database.read
    .select(shown)
    .from(requests)
    .where(
      and(
        isAnswerable({ platform }),
        // Otherwise a response is being verified.
        isNotNull(requests.challenge),
      ),
    )
    .orderBy(desc(requests.createdAt), desc(requests.id))
    .limit(limit);
  return rows.flatMap(({ sealed, ...request }) =>
    sealed
      ? [
          {
            ...request,
            deviceToken: openDeviceToken(
              { vault },
              { tenant: { id: request.tenantId }, id: request.id },
              sealed,
            ),
          },
        ]
      : [],
  );
}
