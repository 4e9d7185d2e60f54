import type { Logger } from "pino";
import type { Tenant } from "../tenants/tenant.ts";
import type { KeyPurpose, KeyStoreOptions } from "./signing-key-store.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";

/** Each tenant's own signing keys. */
export interface TenantSigningKeys {
  /**
   * Those of a tenant, read from the database when they are first asked for, and made when there are none.
   *
   * @param purpose sessions, unless it is named
   */
  of(tenant: Tenant, purpose?: KeyPurpose): SigningKeys;
}

/** Makes the table of a process. A tenant whose configuration has changed is another object, and read anew. */
export function createTenantSigningKeys(
  options: Omit<KeyStoreOptions, "tenant" | "purpose"> & { log: Logger },
): TenantSigningKeys {
  const made: Record<KeyPurpose, WeakMap<Tenant, SigningKeys>> = {
    session: new WeakMap(),
    passkeys: new WeakMap(),
  };
  return {
    of(tenant, purpose = "session") {
      const known = made[purpose].get(tenant);
      if (known) return known;
      const keys = createSigningKeys({ ...options, tenant, purpose });
      made[purpose].set(tenant, keys);
      // Whoever signs before a first key is made waits for it, and tries again if that failed.
      keys.ready.catch((error: unknown) =>
        options.log.error({ err: error, tenant: tenant.id, purpose }, "a signing key could not be made"),
      );
      return keys;
    },
  };
}
