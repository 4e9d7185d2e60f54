import type { Adapter, AdapterPayload } from "oidc-provider";
import { z } from "zod";
import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { metadataOf } from "./clients.ts";
import type { SigningAlgorithm } from "./signing.ts";
import { clientDescription, originOf } from "./unlisted-clients.ts";

type Process = Databases & Sealing & OnPlatform;

/** Clients of a tenant that have registered themselves. Those that no user has allowed anything expire, and are forgotten, first. */
const MAX_REGISTERED = 10_000;

/** How a client that registers may authenticate (RFC 7591, 2: a secret where it names nothing). */
export const registeredMethods = ["client_secret_basic", "none", "private_key_jwt"] as const;

export const storedRegistration = z.object({
  description: clientDescription,
  client_secret: z.string().optional(),
  client_id_issued_at: z.number(),
});

/** What a client that has registered says of itself; null if it is not known, any more or here. */
export async function knownRegistration(
  context: TenantContext<Process>,
  clientId: string,
): Promise<z.output<typeof storedRegistration> | null> {
  if (originOf(context.tenant.config, clientId) !== "registration") return null;
  const payload = await artifactStorage(context, "Client").find(clientId);
  return payload ? storedRegistration.parse(payload.registration) : null;
}

/**
 * Stores the clients that register themselves (RFC 7591), for the library.
 *
 * @param algorithm of the key that signs ID tokens
 */
export function registeredClientStorage(
  context: TenantContext<Process>,
  algorithm: SigningAlgorithm,
): Adapter {
  const storage = artifactStorage(context, "Client");
  const { config } = context.tenant;
  return {
    ...storage,
    async find(client_id) {
      const known = await knownRegistration(context, client_id);
      if (!known) return undefined;
      const { description, client_secret, client_id_issued_at } = known;
      const secret = client_secret === undefined ? {} : { client_secret, client_secret_expires_at: 0 };
      const metadata = metadataOf(config, description, {
        client_id,
        id_token_signed_response_alg: algorithm,
      });
      return { ...metadata, ...secret, client_id_issued_at } as unknown as AdapterPayload;
    },
    async upsert(id, metadata) {
      const { client_secret, client_id_issued_at } = metadata as Record<string, unknown>;
      const registration = storedRegistration.parse({
        description: metadata,
        client_id_issued_at,
        ...(client_secret === undefined ? {} : { client_secret }),
      });
      await storage.upsert(
        id,
        { registration, clientId: id } as unknown as AdapterPayload,
        config.openid.registration_lifetime,
      );
      await storage.keepNewest(MAX_REGISTERED);
    },
  };
}
