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

/** Who signs in next. */
export interface People {
  address(kind: "code" | "password" | "totp"): string;
  passkey(): Passkey;
  /** At the local provider. */
  subject(): string;
}

export interface Passkey {
  id: string;
  userHandle: string;
}

/** The imported users. */
export function importedPeople(): People {
  const next = nextOf();
  return {
    address: (kind) => addressOf(kind, next(kind)),
    passkey() {
      const index = next("passkey");
      return { id: credentialIdOf(index), userHandle: userHandleOf(index) };
    },
    subject: () => subjectOf(next("identity")),
  };
}

/** A prime that is no divisor of a number of users, so that turns of this stride pass through all of them. */
const STRIDE = 15_485_863;

/**
 * The accounts of a grown database (`server/testing/growth.ts`) that sign in by a code, a password or a passkey alone,
 * all of them in turns, so that each login reads rows and pages of indexes that were last read long ago. Other kinds are
 * imported.
 *
 * @param users of the growth, from 100
 */
export function grownPeople(users: number): People {
  const imported = importedPeople();
  // The second half has neither passkeys nor apps; those up to a fifth have an app beside the passkey.
  const [fifth, half] = [Math.ceil(users / 5), Math.ceil(users / 2)];
  // Starts elsewhere in each run, or it would meet the pages that the one before has read.
  let turn = Math.floor(Math.random() * users);
  const next = (from: number, to: number) => {
    for (;;) {
      const number = from + 1 + ((turn++ * STRIDE) % (to - from));
      // Each tenth has an address that is not verified, and a passkey that is a second factor.
      if (number % 10 > 0) return number;
    }
  };
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return {
    ...imported,
    address: (kind) => (kind === "totp" ? imported.address(kind) : `person${next(half, users)}@example.com`),
    passkey() {
      const number = next(fifth, half);
      const handle = Buffer.concat([digest(`handle ${number}`), digest(`more handle ${number}`)]);
      return {
        id: digest(`passkey ${number}`).toString("base64url"),
        userHandle: handle.toString("base64url"),
      };
    },
  };
}

/** The fixed id of the default tenant. */
export const tenantId = "00000000-0000-4000-8000-000000000001";

/** Id of the local provider, and the client id that it knows. */
export const provider = { id: "custom_bench", client: "bench" };

/** The address of an imported user. */
export const addressOf = (kind: Kind, index: number) => `${kind}-${index}@bench.example`;

const subjectOf = (index: number) => `bench-${index}`;

/** base64url of 32 bytes. */
export const credentialIdOf = (index: number) =>
  createHash("sha256").update(`bench passkey ${index}`).digest("base64url");

/** `user.id` of the passkeys, base64url of 16 bytes. */
const userHandleOf = (index: number) => Buffer.from(`user ${index}`.padEnd(16)).toString("base64url");

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
