import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import {
  type AuthenticatorMetadata,
  fidoIssuer,
  readAuthenticatorMetadata,
} from "../webauthn/authenticator-metadata.ts";

/**
 * Reads `webauthn.metadata_file`. An outdated list is a warning, because a service has to start even if its operator
 * forgot to replace the file; it verifies nothing then.
 *
 * @throws StartError if the file cannot be read or its signature is invalid
 */
export async function loadAuthenticatorMetadata(
  { webauthn }: Pick<Config, "webauthn">,
  log: Pick<Logger, "warn">,
  now: Date,
): Promise<AuthenticatorMetadata | null> {
  const { metadata_file: file, metadata_roots: roots } = webauthn;
  if (file === undefined) return null;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`webauthn.metadata_file cannot be read: ${file} (${error.code})`);
  });
  const own = { roots: roots.map((pem) => new X509Certificate(pem)), signer: null };
  const issuer = roots.length > 0 ? own : fidoIssuer();
  const verdict = await readAuthenticatorMetadata(text.trim(), { issuer, now });
  if (!verdict.ok) throw new StartError(`webauthn.metadata_file is not accepted: ${verdict.reason}`);
  const { metadata } = verdict;
  if (now >= metadata.outdatedAt)
    log.warn(
      { file, number: metadata.number, next_update: metadata.nextUpdate },
      "the list of authenticator models is outdated and verifies no attestation; download the current one",
    );
  return metadata;
}
