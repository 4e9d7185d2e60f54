import { createPrivateKey, generateKeyPair, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { and, asc, eq, isNull } from "drizzle-orm";
import { schema } from "#db/client";
import type { TenantContext } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { selfSignedCertificate } from "./certificate.ts";

/** What a key is for; one for both would have each use answer for the other. */
export type SamlKeyPurpose = "saml_signing" | "saml_encryption";

/** A key pair by which SAML providers know a tenant. */
export interface SamlKey {
  privateKey: KeyObject;
  /** PEM; the same for as long as the key is. */
  certificate: string;
}

const { signingKeys, tenants } = schema;

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Providers are told of a certificate once, by hand, so it is made to last. */
const CERTIFICATE_YEARS = 20;

const commonNames = { saml_signing: "SAML signing", saml_encryption: "SAML encryption" };

/**
 * The tenant's key for a purpose. The first time it is asked for it is made, which may take a second. It is never
 * renewed by itself: the providers hold its certificate.
 *
 * @throws UnknownKeyError when it was sealed by a key that is not configured
 */
export async function samlKey(deployment: TenantContext, purpose: SamlKeyPurpose): Promise<SamlKey> {
  const found = (await readKey(deployment, purpose)) ?? (await makeKey(deployment, purpose));
  if (!found) throw new Error(`the ${purpose} key was taken away while it was made`);
  return found;
}

const ofPurpose = (tenant: Tenant, purpose: SamlKeyPurpose) =>
  and(eq(signingKeys.tenantId, tenant.id), eq(signingKeys.purpose, purpose), isNull(signingKeys.retiredAt));

/** As for the keys of sessions, so that resealing finds all of them alike. */
const sealContext = (tenant: Tenant, purpose: SamlKeyPurpose, id: string) =>
  `signing_keys/${tenant.id}/${purpose}/${id}`;

async function readKey({ runtime, tenant }: TenantContext, purpose: SamlKeyPurpose): Promise<SamlKey | null> {
  // Just after a key was made, a copy of the database that lags behind would have another one made.
  const [row] = await runtime.database.write
    .select()
    .from(signingKeys)
    .where(ofPurpose(tenant, purpose))
    .orderBy(asc(signingKeys.createdAt))
    .limit(1);
  if (!row) return null;
  const sealed = runtime.vault.unseal(row.sealedPrivateJwk, sealContext(tenant, purpose, row.id));
  const privateKey = createPrivateKey({ key: JSON.parse(sealed.toString()) as JsonWebKey, format: "jwk" });
  return {
    privateKey,
    // It costs a signature, and whoever signs or decrypts looks at the key alone.
    get certificate() {
      return selfSignedCertificate(privateKey, {
        commonName: commonNames[purpose],
        serial: Buffer.from(row.id.replaceAll("-", ""), "hex"),
        from: row.createdAt,
        until: new Date(row.createdAt.getTime() + CERTIFICATE_YEARS * YEAR_MS),
      });
    },
  };
}

async function makeKey(deployment: TenantContext, purpose: SamlKeyPurpose): Promise<SamlKey | null> {
  const { runtime, tenant } = deployment;
  const { database, platform, vault } = runtime;
  const id = platform.uuid();
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const jwk = Buffer.from(JSON.stringify(privateKey.export({ format: "jwk" })));
  const row = {
    tenantId: tenant.id,
    id,
    purpose,
    algorithm: "RS256",
    publicJwk: publicKey.export({ format: "jwk" }) as Record<string, string>,
    sealedPrivateJwk: vault.seal(jwk, sealContext(tenant, purpose, id)),
    sealedBy: vault.keyIds[0] ?? "",
  };
  await database.write.transaction(async (tx) => {
    // Whoever comes second finds the key of whoever came first.
    await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenant.id)).for("no key update");
    const rivals = await tx
      .select({ id: signingKeys.id })
      .from(signingKeys)
      .where(ofPurpose(tenant, purpose));
    if (rivals.length === 0) await tx.insert(signingKeys).values(row);
  });
  return readKey(deployment, purpose);
}
