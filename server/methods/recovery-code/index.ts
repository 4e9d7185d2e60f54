import type { Method } from "../method.ts";
import { recoveryCodeMoving } from "./moving.ts";

/** Recovery codes: each stands in once for a lost second factor (NIST SP 800-63B-4, 4.2.1.1). */
export const recoveryCode = {
  name: "recovery_code",
  credentials: "recovery codes",
  tables: ["recoveryCodes"],
  isSingle: false,
  has: ({ hasRecoveryCode }) => hasRecoveryCode,
  fact: "hasRecoveryCode",
  pending: null,
  moving: recoveryCodeMoving,
  removal: null,
  amr: () => "recovery_code",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: null,
  secondFactor: { kind: "substitute" },
} as const satisfies Method;
