import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { RequestContext } from "../context/context.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import { settingsForEntityId } from "../thirdparty/saml/identity-providers.ts";

/** A user's identity at an identity provider. */
export interface Identity {
  id: string;
  /** `google`, `custom_acme`, or `saml:` followed by the entity id. */
  provider: string;
  subject: string;
  /** The address that the provider stated, in canonical form; not proof that the user controls it. */
  email: string | null;
}

/**
 * Returns the display name of a provider.
 *
 * @returns null if the provider is disabled or no longer configured
 */
export function providerName(config: Config, provider: string): string | null {
  const [, entityId] = /^saml:(.*)$/s.exec(provider) ?? [];
  if (entityId !== undefined) return settingsForEntityId(config, entityId)?.name ?? null;
  return findProvider(config, provider)?.name ?? null;
}

/**
 * Removes an identity from its account. Its next sign-in is a registration.
 *
 * @throws ConflictError("identity") if the account does not have it
 */
export function removeIdentity({ tenant }: RequestContext<object>, userId: string, id: string): Write {
  const { identities } = schema;
  return async (tx) => {
    const removed = await tx
      .delete(identities)
      .where(and(eq(identities.tenantId, tenant.id), eq(identities.userId, userId), eq(identities.id, id)))
      .returning({ id: identities.id });
    if (removed.length === 0) throw new ConflictError("identity");
  };
}
