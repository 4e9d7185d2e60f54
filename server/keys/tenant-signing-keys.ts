import type { Logger } from "pino";
import type { Tenant } from "../config/tenant.ts";
import type { KeyPurpose, KeyStoreOptions } from "./signing-key-store.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { createVerifiedSignatures } from "./verified-signatures.ts";

/** The signing keys of each tenant. */
export interface TenantSigningKeys {
  /**
   * The keys of a tenant, read on first use and generated if there are none.
   *
   * @param purpose default: `session`
   */
  of(tenant: Tenant, purpose?: KeyPurpose): SigningKeys;
}

/** Creates the cache of a process. A tenant whose configuration has changed is another object and is read again. */
export function createTenantSigningKeys(
  options: Omit<KeyStoreOptions, "tenant" | "purpose"> & { log: Logger },
): TenantSigningKeys {
  const cache: Record<KeyPurpose, WeakMap<Tenant, SigningKeys>> = {
    session: new WeakMap(),
    passkeys: new WeakMap(),
  };
  const { platform } = options;
  // One for all tenants, so that its memory is bounded whatever their number.
  const seen = createVerifiedSignatures({ now: () => Date.now() + platform.clockShift() });
  return {
    of(tenant, purpose = "session") {
      const known = cache[purpose].get(tenant);
      if (known) return known;
      const keys = createSigningKeys({ ...options, tenant, purpose, seen });
      cache[purpose].set(tenant, keys);
      // Signing waits for the first key, and tries again if generating it failed.
      keys.ready.catch((error: unknown) =>
        options.log.error({ err: error, tenant: tenant.id, purpose }, "a signing key could not be generated"),
      );
      return keys;
    },
  };
}

/** What signs for tenants, or verifies what was signed for them. */
export interface Signing {
  signingKeys: TenantSigningKeys;
}
