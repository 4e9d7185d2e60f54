import { createPrivateKey, generateKeyPair, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { and, asc, eq, isNull } from "drizzle-orm";
import { schema } from "#db/client";
import { sealContext } from "#db/schema/table";
import type { Tenant } from "../../config/tenant.ts";
import type { TenantContext } from "../../context/context.ts";
import { makeCertificate, pemOf } from "../../lib/certificates.ts";
import type { Process } from "../process.ts";

/** The purpose of a key; each has its own, so that one use cannot be abused for the other. */
export type SamlKeyPurpose = "saml_signing" | "saml_encryption";

/** A key pair of a tenant as service provider. */
export interface SamlKey {
  privateKey: KeyObject;
  /** PEM; constant for the lifetime of the key. */
  certificate: string;
}

const { signingKeys, tenants } = schema;

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Operators install the certificate at providers by hand, so it is long-lived. */
const CERTIFICATE_YEARS = 20;

const commonNames = { saml_signing: "SAML signing", saml_encryption: "SAML encryption" };

/**
 * Returns the tenant's key for a purpose. Creates it on first use, which may take a second. It is never rotated
 * automatically, because the providers store its certificate.
 *
 * @throws UnknownKeyError if it was sealed with a key that is not configured
 */
export async function samlKey(context: TenantContext<Process>, purpose: SamlKeyPurpose): Promise<SamlKey> {
  const found = (await readKey(context, purpose)) ?? (await makeKey(context, purpose));
  if (!found) throw new Error(`the ${purpose} key was removed while it was created`);
  return found;
}

const ofPurpose = (tenant: Tenant, purpose: SamlKeyPurpose) =>
  and(eq(signingKeys.tenantId, tenant.id), eq(signingKeys.purpose, purpose), isNull(signingKeys.retiredAt));

const contextOf = (tenant: Tenant, purpose: SamlKeyPurpose, id: string) =>
  sealContext(signingKeys, "sealedPrivateJwk", { tenantId: tenant.id, purpose, id });

async function readKey(
  { runtime, tenant }: TenantContext<Process>,
  purpose: SamlKeyPurpose,
): Promise<SamlKey | null> {
  // The primary, because a lagging replica would lead to a second key.
  const [row] = await runtime.database.write
    .select()
    .from(signingKeys)
    .where(ofPurpose(tenant, purpose))
    .orderBy(asc(signingKeys.createdAt))
    .limit(1);
  if (!row) return null;
  const sealed = runtime.vault.unseal(row.sealedPrivateJwk, contextOf(tenant, purpose, row.id));
  const privateKey = createPrivateKey({ key: JSON.parse(sealed.toString()) as JsonWebKey, format: "jwk" });
  return {
    privateKey,
    // Lazy, because it costs a signature and only the metadata needs it.
    get certificate() {
      return pemOf(
        makeCertificate({
          subject: { CN: commonNames[purpose] },
          key: privateKey,
          serial: Buffer.from(row.id.replaceAll("-", ""), "hex"),
          notBefore: row.createdAt,
          notAfter: new Date(row.createdAt.getTime() + CERTIFICATE_YEARS * YEAR_MS),
        }),
      );
    },
  };
}

async function makeKey(context: TenantContext<Process>, purpose: SamlKeyPurpose): Promise<SamlKey | null> {
  const { runtime, tenant } = context;
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
    sealedPrivateJwk: vault.seal(jwk, contextOf(tenant, purpose, id)),
    sealedBy: vault.keyIds[0] ?? "",
  };
  await database.write.transaction(async (tx) => {
    // Locks the tenant, so that concurrent callers create one key.
    await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenant.id)).for("no key update");
    const existing = await tx
      .select({ id: signingKeys.id })
      .from(signingKeys)
      .where(ofPurpose(tenant, purpose));
    if (existing.length === 0) await tx.insert(signingKeys).values(row);
  });
  return readKey(context, purpose);
}
