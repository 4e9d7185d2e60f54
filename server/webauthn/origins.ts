import type { Config } from "../config/schema.ts";

/**
 * Origins that may run ceremonies: those of the relying party, its related origins (WebAuthn Level 3 section 5.11) and its
 * applications for Android, without duplicates, as they appear in client data.
 */
export function ceremonyOrigins({ webauthn, well_known }: Pick<Config, "webauthn" | "well_known">): string[] {
  const applications = well_known.android_apps.flatMap(({ sha256_cert_fingerprints }) =>
    sha256_cert_fingerprints.map(androidOrigin),
  );
  return [...new Set([...webauthn.relying_party.origins, ...webauthn.related_origins, ...applications])];
}

/** The origin of an application for Android: the SHA-256 of its signing certificate in base64url. */
function androidOrigin(fingerprint: string): string {
  return `android:apk-key-hash:${Buffer.from(fingerprint.replaceAll(":", ""), "hex").toString("base64url")}`;
}
