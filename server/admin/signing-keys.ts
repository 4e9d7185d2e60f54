import type { Databases } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import {
  type KeyPurpose,
  keyPurposes,
  type ListedKey,
  listKeys,
  rotateKey,
} from "../keys/signing-key-store.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { type AdminVerdict, rejectAdmin } from "./rejections.ts";

type Process = Databases & OnPlatform & Sealing & AuditOutputs;

/** A key with its purpose. */
export type ShownKey = ListedKey & { purpose: KeyPurpose };

/** Lists the signing keys of a tenant, the newest of each purpose first. */
export async function listSigningKeys(runtime: Process, tenant: Tenant): Promise<ShownKey[]> {
  const found: ShownKey[] = [];
  for (const purpose of keyPurposes)
    for (const key of await listKeys({ ...runtime, tenant, purpose })) found.push({ ...key, purpose });
  return found;
}

const refusals = {
  known: "The key was replaced concurrently.",
  recent: "The newest key was made less than 22 minutes ago. Wait until it signs.",
  too_many: "There are ten published keys. Wait until the tokens of one have expired.",
};

/** Replaces the key that signs the tokens of one purpose, with an entry in the log of the tenant. */
export async function rotateSigningKey(
  runtime: Process,
  tenant: Tenant,
  purpose: KeyPurpose,
  client: Actor,
): Promise<AdminVerdict<{ keys: ShownKey[] }>> {
  const outcome = await rotateKey({ ...runtime, tenant, purpose }, (now) =>
    audit({ runtime, tenant, client, now }, "signing_key_rotated", { purpose }),
  );
  if (outcome !== "made") return rejectAdmin("conflict", refusals[outcome]);
  return { ok: true, keys: await listSigningKeys(runtime, tenant) };
}
