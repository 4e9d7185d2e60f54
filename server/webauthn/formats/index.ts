import { X509Certificate } from "node:crypto";
import { SettingsService } from "@simplewebauthn/server";
import type { Config } from "../../config/schema.ts";
import { verifyAndroidKey } from "./android-key.ts";
import { verifyApple } from "./apple.ts";
import { verifyFidoU2f } from "./fido-u2f.ts";
import { verifyPacked } from "./packed.ts";
import type { StatementVerifier } from "./statement.ts";

/** Formats of attestation statements that can be verified without asking anybody. */
export type StatementFormat = Config["passkey"]["attestation_formats"][number];

/** Who verifies a statement. */
export interface FormatRules {
  /**
   * Whether the library may: without roots it looks at no chain. Where it has roots it follows the addresses of
   * revocation lists in certificates, for Android's format in any that a client makes up; those it never sees.
   */
  byLibrary: boolean;
  /** What it leaves to check, or all there is to check. */
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

/** Roots that all the world knows, by the format they are of. The other formats have theirs in FIDO's metadata alone. */
export type StatementRoots = Partial<Record<StatementFormat, readonly X509Certificate[]>>;

const bundled = (identifier: "apple" | "android-key") =>
  SettingsService.getRootCertificates({ identifier }).map((pem) => new X509Certificate(pem));

export const knownRoots: StatementRoots = { apple: bundled("apple"), "android-key": bundled("android-key") };
