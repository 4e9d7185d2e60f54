import type { Logger } from "pino";
import type { Tenant } from "../config/tenant.ts";
import { onceFor } from "../lib/once-for.ts";
import type { KeyPurpose, KeyStoreOptions } from "./signing-key-store.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { createVerifiedSignatures } from "./verified-signatures.ts";

/** The signing keys of each tenant. */
export type TenantSigningKeys = ReturnType<typeof createTenantSigningKeys>;

/** Creates the cache of a process. A tenant whose configuration has changed is another object and is read again. */
export function createTenantSigningKeys(
  options: Omit<KeyStoreOptions, "tenant" | "purpose"> & { log: Logger },
) {
  const { platform, log } = options;
  // One for all tenants, so that its memory is bounded whatever their number.
  const seen = createVerifiedSignatures({ now: () => Date.now() + platform.clockShift() });
  const keysFor = (purpose: KeyPurpose) =>
    onceFor((tenant: Tenant) => {
      const keys = createSigningKeys({ ...options, tenant, purpose, seen });
      // Signing waits for the first key, and tries again if generating it failed.
      keys.ready.catch((error: unknown) =>
        log.error({ err: error, tenant: tenant.id, purpose }, "a signing key could not be generated"),
      );
      return keys;
    });
  const keysOf = { session: keysFor("session"), passkeys: keysFor("passkeys") };
  return {
    /** The keys of a tenant, read on first use and generated if there are none. */
    of: (tenant: Tenant, purpose: KeyPurpose = "session"): SigningKeys => keysOf[purpose](tenant),
  };
}

/** What signs for tenants, or verifies what was signed for them. */
export interface Signing {
  signingKeys: TenantSigningKeys;
}
