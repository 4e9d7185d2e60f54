import { X509Certificate } from "node:crypto";
import { SettingsService } from "@simplewebauthn/server";
import type { Config } from "../../config/schema.ts";
import { verifyAndroidKey } from "./android-key.ts";
import { verifyApple } from "./apple.ts";
import { verifyFidoU2f } from "./fido-u2f.ts";
import { verifyPacked } from "./packed.ts";
import type { StatementVerifier } from "./statement.ts";

/** Formats of attestation statements that can be verified without the network. */
export type StatementFormat = Config["passkey"]["attestation_formats"][number];

/** How statements of a format are verified. */
export interface FormatRules {
  /**
   * Whether the library verifies it. Without roots the library checks no chain. With roots it fetches revocation lists
   * from addresses in certificates, which a client may forge for Android's format, so it never sees those.
   */
  byLibrary: boolean;
  /** Checks the rest, or everything if the library does not verify the statement. */
  verify: StatementVerifier;
}

export const statementFormats: Record<StatementFormat, FormatRules> = {
  none: { byLibrary: true, verify: () => true },
  packed: { byLibrary: true, verify: verifyPacked },
  "fido-u2f": { byLibrary: true, verify: verifyFidoU2f },
  tpm: { byLibrary: true, verify: () => true },
  apple: { byLibrary: false, verify: verifyApple },
  "android-key": { byLibrary: false, verify: verifyAndroidKey },
};

/** Well-known roots by format. Roots of the other formats are in FIDO's metadata only. */
export type StatementRoots = Partial<Record<StatementFormat, readonly X509Certificate[]>>;

const bundled = (identifier: "apple" | "android-key") =>
  SettingsService.getRootCertificates({ identifier }).map((pem) => new X509Certificate(pem));

export const knownRoots: StatementRoots = { apple: bundled("apple"), "android-key": bundled("android-key") };
