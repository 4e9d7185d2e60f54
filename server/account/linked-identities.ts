import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { RequestContext } from "../runtime.ts";
import { findProvider } from "../thirdparty/providers/index.ts";
import { settingsForEntityId } from "../thirdparty/saml/identity-providers.ts";

/** Who a person is at an identity provider. */
export interface Identity {
  id: string;
  /** `google`, `custom_acme`, or `saml:` and the entity id. */
  provider: string;
  subject: string;
  /** Canonical; what the provider named, which proves nothing by itself. */
  email: string | null;
}

/**
 * What people call a provider.
 *
 * @returns null when nobody can sign in by it: it is switched off, or the configuration knows it no longer
 */
export function providerName(config: Config, provider: string): string | null {
  const [, entityId] = /^saml:(.*)$/s.exec(provider) ?? [];
  if (entityId !== undefined) return settingsForEntityId(config, entityId)?.name ?? null;
  return findProvider(config, provider)?.name ?? null;
}

/**
 * Takes an identity from its account: whoever signs in by it next is somebody new.
 *
 * @throws TakenError("identity") when the account no longer has it
 */
export function removeIdentity({ tenant }: RequestContext, userId: string, id: string): Write {
  const { identities } = schema;
  return async (tx) => {
    const removed = await tx
      .delete(identities)
      .where(and(eq(identities.tenantId, tenant.id), eq(identities.userId, userId), eq(identities.id, id)))
      .returning({ id: identities.id });
    if (removed.length === 0) throw new ConflictError("identity");
  };
}
