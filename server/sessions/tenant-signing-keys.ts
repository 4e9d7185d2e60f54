import type { Logger } from "pino";
import type { Tenant } from "../runtime.ts";
import type { KeyStoreOptions } from "./signing-key-store.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";

/** Each tenant's own signing keys. */
export interface TenantSigningKeys {
  /** Those of a tenant, read from the database when they are first asked for, and made when there are none. */
  of(tenant: Tenant): SigningKeys;
}

/** Makes the table of a process. A tenant whose configuration has changed is another object, and read anew. */
export function createTenantSigningKeys(
  options: Omit<KeyStoreOptions, "tenant"> & { log: Logger },
): TenantSigningKeys {
  const made = new WeakMap<Tenant, SigningKeys>();
  return {
    of(tenant) {
      const known = made.get(tenant);
      if (known) return known;
      const keys = createSigningKeys({ ...options, tenant });
      made.set(tenant, keys);
      // Whoever signs before a first key is made waits for it, and tries again if that failed.
      keys.ready.catch((error: unknown) =>
        options.log.error({ err: error, tenant: tenant.id }, "a signing key could not be made"),
      );
      return keys;
    },
  };
}
