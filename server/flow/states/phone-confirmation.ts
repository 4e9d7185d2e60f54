import { z } from "zod";
import type { Write } from "#db/write";
import { dropCredentialsSetBeforeVerification } from "../../account/access-revocation.ts";
import { audit } from "../../audit/audit.ts";
import { holds } from "../../conditions/condition.ts";
import { emit } from "../../events/emit.ts";
import { hasVerifiedEmail } from "../../identity/email/emails.ts";
import { releasePhone, setPhone, setPhoneVerified } from "../../identity/phone/phone-numbers.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { noMethods } from "../../methods/index.ts";
import { askToSend } from "../../methods/passcode/passcodes.ts";
import { isAccepted } from "../../methods/second-factors.ts";
import { bySms } from "../../methods/sms/by-sms.ts";
import { sms } from "../../methods/sms/index.ts";
import { revokeDevices } from "../../sessions/trusted-devices.ts";
import { back } from "../actions/back.ts";
import { continueToLoginMethodChooser } from "../actions/continue-to-login-method-chooser.ts";
import { type Context, state } from "../define.ts";
import { isPendingRegistration } from "../facts.ts";
import { isAdmitted } from "../flow-statements.ts";
import { NEXT, STAY } from "../names.ts";
import { requireCredentialAddable } from "../new-credential.ts";
import { type Effects, next, reject } from "../outcome.ts";
import { confirmedNumber } from "../profile/confirmed-number.ts";
import { maySetPhone } from "../profile/phone.ts";
import { enterWithCode, isSignIn, resendCode, verifyCode } from "../sent-codes.ts";

type PhoneContext = Context<"sms">;

/** The user enters the code that was sent by SMS to the number of this flow: a first factor, or proof of the number. */
export const phoneConfirmation = state({
  name: "phone_confirmation",
  needs: ["sms"],
  asks: (asking) => askToSend(asking, subjectOf(asking), isAdmitted),
  enter: (context, found) => enterWithCode(context, subjectOf(context), found),
  shows: ({ config }) => ({ code_lifetime: config.phone.code_ttl }),
  actions: (action) => ({
    verify_passcode: action({
      description: "Enter the code that was sent by SMS.",
      costs: ["write", "mail"],
      input: z.strictObject({ code: z.string().length(6) }),
      to: [NEXT],
      errors: ["passcode_invalid", "passcode_max_attempts_reached", "flow_discontinuity_error"],
      // A code that verifies a number is no sign-in.
      proves: ({ data }) => (data.sms && isSignIn({ channel: bySms, ...data.sms }) ? "sms" : null),
      async run(context, { code }) {
        const verified = await verifyCode(context, subjectOf(context), code);
        if (!verified.ok) return verified.rejection;
        // Another tab may have created a passkey, or set up a factor, since the code was sent.
        if (expectsNumber(context) && !holds(maySetPhone, context))
          return reject("flow_discontinuity_error", { writes: [verified.write] });
        const unusable = await releaseOf(context);
        if (unusable) return reject("flow_discontinuity_error", { writes: [verified.write, ...unusable] });
        const { writes = [], ...effects } = confirmed(context);
        return next({ ...effects, writes: [verified.write, ...writes] });
      },
    }),
    resend_passcode: action({
      description: "Send a new code by SMS.",
      costs: ["write", "mail"],
      to: [STAY],
      errors: ["rate_limit_exceeded"],
      run: (context) => resendCode(context, subjectOf(context)),
    }),
    continue_to_login_method_chooser: continueToLoginMethodChooser,
    back,
  }),
});

/** Whether the code verifies a number that the account is to get. */
const expectsNumber = (context: PhoneContext) =>
  context.data.sms.purpose === "phone_verification" && !isPendingRegistration(context);

function subjectOf({
  flowId,
  data,
  facts,
  config,
}: Pick<PhoneContext, "flowId" | "data" | "facts" | "config">) {
  const { purpose, recipient, decoy } = data.sms;
  const forSignIn = isSignIn({ channel: bySms, purpose });
  return {
    channel: bySms,
    flowId,
    purpose,
    decoy,
    // Failed attempts of an attacker cannot block a passkey.
    hasAlternative: forSignIn && config.passkey.enabled && facts.hasPasskey,
    recipient: recipient ?? null,
    identifier: (forSignIn ? data.identifier?.value : undefined) ?? recipient ?? "",
    ...(data.userId ? { userId: data.userId } : {}),
  };
}

/**
 * Handles a sign-in whose code proves a number, while the account is not that of its owner: the account has lost the
 * number since the code was sent; or the number is unverified and the account has another, verified identifier, so that
 * it belongs to a different person, and the number is released from it.
 *
 * @returns the writes of a sign-in that is rejected; null if it may go on
 */
async function releaseOf({ type, data, facts, request, db }: PhoneContext): Promise<Write[] | null> {
  const { userId } = data;
  const { purpose, recipient: number } = data.sms;
  if (purpose !== "sms_login" || !userId || !number) return null;
  if (facts.phone !== number) return [];
  if (type === "profile" || facts.phoneVerified) return null;
  if (!(await hasVerifiedEmail(db, request.tenant.id, userId))) return null;
  return [
    releasePhone(request, userId, number),
    audit(request, "phone_deleted", { phone: number, by: "number verified by another account" }, userId),
    emit(request, "user.update.phone.delete", userId),
  ];
}

/** Effects of a correct code, which proves control of the number. */
function confirmed(context: PhoneContext): Effects {
  const { type, data, request, config } = context;
  const { userId } = data;
  const { purpose, recipient: number, enrols } = data.sms;
  if (purpose === "sms_login") {
    const factor = { method: "sms" as const, at: request.now.toISOString() };
    return {
      data: { factors: [...data.factors, factor], sms: undefined },
      ...(userId && number ? firstProof(context, userId, number) : {}),
    };
  }
  if (!number || !userId) return { data: { sms: undefined } };
  if (isPendingRegistration(context)) {
    // Where the number is a second factor, recovery codes are made for it, whatever it was entered for.
    const enrolled = enrols || isAccepted(sms, config) ? { enrolled: true } : {};
    return { data: { phone: number, phoneVerified: true, sms: undefined, ...enrolled } };
  }
  if (type === "profile") return confirmedNumber(context, number);
  return enrolled(context, userId, number);
}

/** Effects of a number that becomes the second factor of an account during a sign-in. */
function enrolled(context: PhoneContext, userId: string, number: string): Effects {
  const { request, facts } = context;
  return {
    data: { phone: number, sms: undefined, enrolled: true },
    facts: { phone: number, phoneVerified: true, deviceTrusted: false },
    writes: [
      requireCredentialAddable({ ...context, data: { ...context.data, userId } }),
      setPhone(request, userId, { number, verified: true }),
      // Trust that was granted without this factor ends.
      (tx) => revokeDevices(tx, request.tenant.id, userId),
      audit(request, "phone_created", { phone: number }, userId),
      emit(request, "user.update.phone.create", userId),
    ],
    jobs: securityNotice(request, "phone_create", facts.email),
  };
}

/**
 * Effects of the first verification of a number. As with an address, credentials that were set before may belong to an
 * attacker who registered the number in advance, so they are dropped; not in a profile flow, whose user is signed in
 * already.
 */
function firstProof(context: PhoneContext, userId: string, number: string): Effects {
  const { type, request, flowId, facts } = context;
  if (facts.phoneVerified) return {};
  const writes = [
    setPhoneVerified(request, userId, number),
    audit(request, "phone_verified", { phone: number }, userId),
  ];
  if (type === "profile") return { facts: { phoneVerified: true }, writes };
  return {
    facts: { ...noMethods, deviceTrusted: false, phoneVerified: true },
    writes: [...writes, (tx) => dropCredentialsSetBeforeVerification(tx, request, userId, flowId)],
  };
}
