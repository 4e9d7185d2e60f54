import type { Databases } from "#db/client";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Rates } from "../limits/rate-limits.ts";
import type { AuthenticatorModels } from "../webauthn/authenticator-metadata.ts";

/** What this room takes of the process. */
export type Process = OnPlatform & Databases & AuditOutputs & Sealing & Signing & Rates & AuthenticatorModels;
