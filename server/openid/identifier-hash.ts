import { sha256 } from "../lib/sha256.ts";

/** What is stored in place of the identifier of an artifact: its SHA-256 in base64url. */
export const identifierHash = (identifier: string): string => sha256(identifier).toString("base64url");
