import { z } from "zod";
import type { Write } from "#db/write";
import {
  dropCredentialsSetBeforeVerification,
  hasProvedAddress,
  releaseAddress,
} from "../../account/first-proof.ts";
import { audit } from "../../audit/audit.ts";
import {
  ensurePasscodeSent,
  type PasscodeSubject,
  resendPasscode,
  verifyPasscode,
} from "../../credentials/passcodes.ts";
import { addEmail, isProved, setEmailVerified } from "../../identity/users.ts";
import { back } from "../actions/back.ts";
import { type Context, type Entered, state } from "../define.ts";
import { problemOf } from "../errors.ts";
import { isPendingRegistration } from "../facts.ts";
import { NEXT, STAY } from "../names.ts";
import { type Effects, next, rateLimited, refuse, retryPayload, stay } from "../outcome.ts";
import { confirmedAddress } from "../profile/confirmed-address.ts";

type Awaiting = Context<"passcode">;

/** A six-digit code was mailed to the address this flow is about; the person types it in. */
export const passcodeConfirmation = state({
  name: "passcode_confirmation",
  needs: ["passcode"],
  async enter(context) {
    const { limited, ...sent } = await ensurePasscodeSent(context.request, subjectOf(context));
    return limited ? { ...sent, problem: tooSoon(limited.retryAfterSeconds) } : sent;
  },
  actions: (action) => ({
    verify_passcode: action({
      description: "Enter the code that was sent.",
      input: z.strictObject({ code: z.string().length(6) }),
      to: [NEXT],
      errors: [
        "passcode_invalid",
        "passcode_max_attempts_reached",
        "rate_limit_exceeded",
        "flow_discontinuity_error",
      ],
      async run(context, { code }) {
        const judged = await verifyPasscode(context.request, subjectOf(context), code);
        if (judged.result === "limited") return rateLimited(judged.retryAfterSeconds);
        if (judged.result === "exhausted") return refuse("passcode_max_attempts_reached");
        if (judged.result === "wrong") return refuse("passcode_invalid", { input: "code" });
        const release = await releaseOf(context);
        if (release) return refuse("flow_discontinuity_error", { writes: [judged.take, ...release] });
        const { writes = [], ...effects } = await confirmed(context);
        return next({ ...effects, writes: [judged.take, ...writes] });
      },
    }),
    resend_passcode: action({
      description: "Send a new code.",
      to: [STAY],
      errors: ["rate_limit_exceeded"],
      async run(context) {
        const { limited, ...sent } = await resendPasscode(context.request, subjectOf(context));
        return limited ? rateLimited(limited.retryAfterSeconds) : stay(sent, { enter: false });
      },
    }),
    back,
  }),
});

function subjectOf({ type, flowId, data, facts, config }: Awaiting): PasscodeSubject {
  const { purpose, recipient, genuine, notice } = data.passcode;
  // Somebody who is signed in has named the address that is to be confirmed, whatever they signed in by.
  const named = type === "profile" && purpose === "email_verification" ? recipient : data.identifier?.value;
  return {
    flowId,
    purpose,
    genuine,
    // Nobody but its owner can make a passkey fail.
    hasAlternative: purpose !== "email_verification" && config.passkey.enabled && facts.hasPasskey,
    recipient: recipient ?? null,
    identifier: named ?? recipient ?? "",
    ...(data.userId ? { userId: data.userId } : {}),
    ...(notice ? { notice } : {}),
  };
}

function tooSoon(seconds: number): NonNullable<Entered["problem"]> {
  return problemOf("rate_limit_exceeded", { payload: retryPayload(seconds) });
}

/**
 * Somebody who is not signed in holds a mailbox whose address nobody had proved, of an account of which another is
 * proved: the account is not theirs, and the address is not the account's.
 *
 * @returns what sets that right; null for everybody else
 */
async function releaseOf({ type, data, request, db }: Awaiting): Promise<Write[] | null> {
  const { tenant, now } = request;
  const { userId, passcode } = data;
  const { purpose, recipient: address } = passcode;
  if (type === "profile" || purpose === "email_verification" || !userId || !address) return null;
  if (await isProved(db, tenant.id, { userId, address })) return null;
  if (!(await hasProvedAddress(db, tenant.id, userId))) return null;
  return [
    (tx) => releaseAddress(tx, tenant.id, { userId, address, now }),
    audit(request, "email_deleted", { by: "proof of somebody else" }, userId),
  ];
}

/** What follows from a right code: the person holds the mailbox. */
async function confirmed(context: Awaiting): Promise<Effects> {
  const { type, data, facts, request } = context;
  const { tenant, now, runtime } = request;
  const { userId, passcode } = data;
  const { purpose, recipient: address } = passcode;
  if (purpose !== "email_verification") {
    const factor = { method: "passcode" as const, at: now.toISOString() };
    const recovering = purpose === "recovery" ? { recovering: true } : {};
    return {
      data: { factors: [...data.factors, factor], passcode: undefined, ...recovering },
      ...(userId && address ? await firstProof(context, userId, address) : {}),
    };
  }
  if (isPendingRegistration(context)) return { data: { emailVerified: true, passcode: undefined } };
  if (type === "profile" && address) {
    return { data: { passcode: undefined }, ...confirmedAddress(context, address) };
  }
  // Another flow of this person may have brought an address meanwhile; then none is missing.
  if (!userId || !address || facts.email !== null) return { data: { passcode: undefined } };
  return {
    data: { email: address, passcode: undefined },
    facts: { email: address, emailVerified: true },
    writes: [
      (tx) =>
        addEmail(tx, tenant.id, {
          userId,
          address,
          isPrimary: true,
          verifiedAt: now,
          id: runtime.platform.uuid(),
          now,
        }),
      audit(request, "email_created", {}, userId),
      audit(request, "email_verified", {}, userId),
    ],
  };
}

/**
 * While nobody had proved this address, whoever set the account's credentials may have been a stranger who waited for
 * its owner to come: they go. Somebody who is signed in and only proves who they are once more is no newcomer.
 */
async function firstProof(
  { type, request, db, flowId }: Awaiting,
  userId: string,
  address: string,
): Promise<Effects> {
  const { tenant, now } = request;
  if (await isProved(db, tenant.id, { userId, address })) return {};
  const mark: Write = (tx) => setEmailVerified(tx, tenant.id, { userId, address, now });
  const line = audit(request, "email_verified", {}, userId);
  if (type === "profile") return { facts: { emailVerified: true }, writes: [mark, line] };
  return {
    facts: { emailVerified: true, ...nothingLeft },
    writes: [mark, line, (tx) => dropCredentialsSetBeforeVerification(tx, tenant.id, userId, flowId)],
  };
}

const nothingLeft = {
  hasPassword: false,
  hasPasskey: false,
  hasSecurityKey: false,
  hasTotp: false,
  hasAuthenticator: false,
  hasRecoveryCode: false,
  hasIdentity: false,
  deviceTrusted: false,
};
