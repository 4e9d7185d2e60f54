import type { z } from "zod";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import { securityNotice } from "../mail/security-notices.ts";
import type { EnrolledMethod } from "../methods/index.ts";
import { acceptedFactors, isMultiFactor } from "../methods/second-factors.ts";
import { revokeDevices } from "../sessions/trusted-devices.ts";
import type { FlowData } from "./data.ts";
import type { Context } from "./define.ts";
import { isPendingRegistration } from "./facts.ts";
import { requireCredentialAddable } from "./new-credential.ts";
import { next } from "./outcome.ts";

/** A second factor of which users set up a credential, not an identifier. */
type StoredMethod = Extract<EnrolledMethod, { pending: object }>;

/**
 * Returns the outcome of a second factor that the user has set up and proved. A registration keeps it until the account is
 * created; any other flow stores it, ends the trust in browsers and tells the owner.
 *
 * @param factor what the record of the method stores
 * @param verified the writes of the proof
 */
export function enrolledFactor<Method extends StoredMethod>(
  context: Context<"userId">,
  { fact, pending: { member, unconfirmed, store }, secondFactor: { enrolment, notice } }: Method,
  factor: z.output<Method["pending"]["schema"]>,
  verified: Write[] = [],
) {
  const { request, data, facts } = context;
  const { userId } = data;
  const pending = { ...data.pending, ...(unconfirmed ? { [unconfirmed.member]: undefined } : {}) };
  if (isPendingRegistration(context))
    return next({ data: { pending: { ...pending, [member]: factor }, enrolled: true }, writes: verified });
  return next({
    data: { pending, enrolled: true },
    facts: { [fact]: true, deviceTrusted: false },
    writes: [
      requireCredentialAddable(context),
      store(request, userId, factor as never),
      // Trust that was granted without this factor ends.
      (tx) => revokeDevices(tx, request.tenant.id, userId),
      ...verified,
      audit(request, enrolment.audit, {}, userId),
    ],
    jobs: securityNotice(request, "mfa_create", facts.email, { factor: notice }),
  });
}

/**
 * The factors of a sign-in with the second factor that its flow has set up: to set one up proves it. The same list, where it
 * has none or is multi-factor without.
 */
export function withEnrolledFactor(
  { request, data, facts, config }: Context,
  factors: FlowData["factors"],
): FlowData["factors"] {
  if (!data.enrolled || isMultiFactor(factors)) return factors;
  const enrolled = acceptedFactors(facts, config).find(({ secondFactor }) => secondFactor.enrolment !== null);
  return enrolled ? [...factors, { method: enrolled.name, at: request.now.toISOString() }] : factors;
}
