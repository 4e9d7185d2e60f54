import { createHash, type KeyObject, randomUUID } from "node:crypto";
import { encodeCoseKey } from "../server/testing/cose-key.ts";

/** The users that the benchmark signs in: how many of each kind, and what they sign in with. */
export const kinds = {
  /** Have a verified address alone. */
  code: 1024,
  password: 1024,
  /** Have a password and an authenticator app. A code works once, so there are more than sign in within its minute. */
  totp: 6144,
  passkey: 1024,
  /** Have an identity at the local provider. */
  identity: 1024,
} as const;

export type Kind = keyof typeof kinds;

/** Returns what names the next user of a kind: they take turns, so that no two connections sign in the same one. */
export function nextOf(): (kind: Kind) => number {
  const turns = new Map<Kind, number>();
  return (kind) => {
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, (turn + 1) % kinds[kind]);
    return turn;
  };
}

/** The fixed id of the default tenant. */
export const tenantId = "00000000-0000-4000-8000-000000000001";

/** Id of the local provider, and the client id that it knows. */
export const provider = { id: "custom_bench", client: "bench" };

export const addressOf = (kind: Kind, index: number) => `${kind}-${index}@bench.example`;

export const subjectOf = (index: number) => `bench-${index}`;

/** base64url of 32 bytes. */
export const credentialIdOf = (index: number) =>
  createHash("sha256").update(`bench passkey ${index}`).digest("base64url");

/** `user.id` of the passkeys, base64url of 16 bytes. */
export const userHandleOf = (index: number) => Buffer.from(`user ${index}`.padEnd(16)).toString("base64url");

/**
 * Returns the users as lines of JSON for `stile users import`.
 *
 * @param passkey public key of all passkeys
 */
export function recordsOf(secrets: { passwordHash: string; totp: string }, passkey: KeyObject): string {
  const cose = encodeCoseKey(passkey.export({ format: "jwk" }), -7).toString("base64url");
  const { passwordHash: password_hash, totp: secret } = secrets;
  const own: Record<Kind, (index: number) => object> = {
    code: () => ({}),
    password: () => ({ password_hash }),
    totp: () => ({ password_hash, totp: { secret } }),
    passkey: (index) => ({
      passkeys: [
        {
          id: credentialIdOf(index),
          public_key: cose,
          user_handle: userHandleOf(index),
          transports: ["internal", "hybrid"],
          backup_eligible: true,
          backup_state: true,
          user_verified: true,
        },
      ],
    }),
    identity: (index) => ({ identities: [{ provider: provider.id, subject: subjectOf(index) }] }),
  };
  return (Object.keys(kinds) as Kind[])
    .flatMap((kind) =>
      Array.from({ length: kinds[kind] }, (_, index) =>
        JSON.stringify({
          id: randomUUID(),
          emails: [{ address: addressOf(kind, index), is_primary: true, is_verified: true }],
          ...own[kind](index),
        }),
      ),
    )
    .join("\n");
}
