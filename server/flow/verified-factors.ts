import type { FlowData } from "./data.ts";

type Factor = FlowData["factors"][number];
type Credential = NonNullable<FlowData["pending"]["credential"]>;

/**
 * The factor that the creation of a passkey proves: possession of it, and what else its authenticator has verified (NIST SP
 * 800-63B-4, 3.1.7). A passkey that did not verify its user may have been created without a prompt, so it adds nothing to the
 * factors of a sign-in.
 */
export const createdPasskey = ({
  userVerified,
  hardwareProtected,
}: Pick<Credential, "userVerified" | "hardwareProtected">) => ({
  method: "passkey" as const,
  userVerified: userVerified === true,
  ...(hardwareProtected ? { hardwareProtected } : {}),
});

/** The factors that a flow has verified, with the passkey that a registration has created and not stored yet. */
export const verifiedFactors = ({
  factors,
  pending: { credential },
}: Pick<FlowData, "factors" | "pending">): readonly Omit<Factor, "at">[] =>
  credential?.userVerified ? [...factors, createdPasskey(credential)] : factors;
