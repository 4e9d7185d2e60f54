import { createPrivateKey } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { StoredKey } from "../../testing/uaf-authenticator/call.ts";

/** The stored state of the played authenticator: its keys, and the requests that were declined. */
export interface StoredState {
  keys: StoredKey[];
  /** Ids of requests. */
  declined: string[];
}

/** The JSON of the file: ids of keys in base64url, private keys in PEM (PKCS #8). */
const stored = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      appId: z.string(),
      username: z.string(),
      privateKey: z.string(),
      signCounter: z.number(),
    }),
  ),
  declined: z.array(z.string()),
});

/**
 * Reads the file. Without one, the authenticator has no keys.
 *
 * @throws Error if the file is malformed
 */
export function readState(file: string): StoredState {
  const text = textOf(file);
  if (text === null) return { keys: [], declined: [] };
  try {
    const { keys, declined } = stored.parse(JSON.parse(text));
    const parsed = keys.map((key) => ({
      ...key,
      id: Buffer.from(key.id, "base64url"),
      privateKey: createPrivateKey(key.privateKey),
    }));
    return { keys: parsed, declined };
  } catch {
    throw new Error(`${file} is malformed. Delete it to start with a new authenticator.`);
  }
}

/** Replaces the file atomically; only its owner can read it. */
export function writeState(file: string, { keys, declined }: StoredState): void {
  const serialized = keys.map(({ id, privateKey, ...rest }) => ({
    ...rest,
    id: id.toString("base64url"),
    privateKey: privateKey.export({ format: "pem", type: "pkcs8" }),
  }));
  mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
  const next = `${file}.next`;
  writeFileSync(next, `${JSON.stringify({ keys: serialized, declined }, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, file);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
