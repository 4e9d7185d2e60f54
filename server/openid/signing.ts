import { createPublicKey, type KeyObject } from "node:crypto";
import { ExternalSigningKey } from "oidc-provider";
import type { PublishedKey, SigningKeys } from "../keys/signing-keys.ts";

export type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

/**
 * A key of the tenant's key set, for the library: the private keys stay where they are. It signs with the first one, and verifies
 * with each that is published, such as the signature of an `id_token_hint`.
 */
export class TenantKey extends ExternalSigningKey {
  readonly #published: PublishedKey;
  readonly #publicKey: KeyObject;
  readonly #signData: (data: Uint8Array) => Buffer;

  constructor(published: PublishedKey, signData: (data: Uint8Array) => Buffer) {
    super();
    this.#published = published;
    this.#publicKey = createPublicKey({ key: published, format: "jwk" });
    this.#signData = signData;
  }

  override get kid(): string {
    return this.#published.kid;
  }

  override get alg(): string {
    return this.#published.alg;
  }

  override keyObject(): KeyObject {
    return this.#publicKey;
  }

  override sign(data: Uint8Array): Buffer {
    return this.#signData(data);
  }
}

/** Those of a key set, as long as it has the same: each request asks for them, and a public key takes long to read. */
const read = new WeakMap<SigningKeys, { ids: string; tenantKeys: TenantKey[] }>();

/** The keys of a tenant, the one that signs first. */
export async function tenantKeys(keys: SigningKeys): Promise<TenantKey[]> {
  const { signer, others, signData } = await keys.signing();
  const ids = [signer, ...others].map(({ kid }) => kid).join();
  const known = read.get(keys);
  if (known?.ids === ids) return known.tenantKeys;
  const refuses = () => {
    throw new Error("a former key signs nothing");
  };
  const tenantKeys = [new TenantKey(signer, signData), ...others.map((key) => new TenantKey(key, refuses))];
  read.set(keys, { ids, tenantKeys });
  return tenantKeys;
}
