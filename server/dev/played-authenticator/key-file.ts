import { createPrivateKey } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { HeldKey } from "../uaf-authenticator/call.ts";

/** What the played phone remembers: its keys, and what its owner has declined. */
export interface Memory {
  keys: HeldKey[];
  /** Ids of requests. */
  declined: string[];
}

/** Everything as text: a key's id in base64url, the private key in PEM (PKCS #8). */
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
 * Reads the file; a phone without one is new.
 *
 * @throws Error when it says something else
 */
export function readMemory(file: string): Memory {
  const text = textOf(file);
  if (text === null) return { keys: [], declined: [] };
  try {
    const { keys, declined } = stored.parse(JSON.parse(text));
    const held = keys.map((key) => ({
      ...key,
      id: Buffer.from(key.id, "base64url"),
      privateKey: createPrivateKey(key.privateKey),
    }));
    return { keys: held, declined };
  } catch {
    throw new Error(`${file} is not what a phone privateState; without it the phone is a new one`);
  }
}

/** Replaces the file in one go, readable by its owner alone. */
export function writeMemory(file: string, { keys, declined }: Memory): void {
  const told = keys.map(({ id, privateKey, ...rest }) => ({
    ...rest,
    id: id.toString("base64url"),
    privateKey: privateKey.export({ format: "pem", type: "pkcs8" }),
  }));
  mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
  const next = `${file}.next`;
  writeFileSync(next, `${JSON.stringify({ keys: told, declined }, null, 2)}\n`, { mode: 0o600 });
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
