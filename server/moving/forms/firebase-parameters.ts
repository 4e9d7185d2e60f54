import { z } from "zod";
import type { FirebaseHashParameters } from "../form.ts";

const count = z.coerce.number().int().min(1).max(64);

const parameters = z.object({
  base64_signer_key: z.string().min(1),
  base64_salt_separator: z.string().default(""),
  rounds: count,
  mem_cost: count,
});

/**
 * Reads the hash parameters of a project: JSON, or the block `hash_config { … }` that Firebase's console shows.
 *
 * @returns null if one is missing or invalid
 */
export function parseFirebaseParameters(text: string): FirebaseHashParameters | null {
  return parameters.safeParse(jsonOf(text) ?? blockOf(text)).data ?? null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function blockOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/^\s*(\w+)\s*[:=]\s*"?([\w+/=-]*)"?\s*,?\s*$/gm);
  return Object.fromEntries([...pairs].map(([, name = "", value = ""]) => [name, value]));
}
