import { z } from "zod";
import type { Write } from "#db/write";
import { dropCredentialsSetBeforeVerification } from "../../account/access-revocation.ts";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import {
  createEmail,
  hasVerifiedEmail,
  isEmailVerified,
  releaseAddress,
  setEmailVerified,
} from "../../identity/email/emails.ts";
import { noMethods } from "../../methods/index.ts";
import { byMail } from "../../methods/passcode/by-mail.ts";
import { askForPasscode, askToSend } from "../../methods/passcode/passcodes.ts";
import { back } from "../actions/back.ts";
import { continueToLoginMethodChooser } from "../actions/continue-to-login-method-chooser.ts";
import { type Context, state } from "../define.ts";
import { isPendingRegistration } from "../facts.ts";
import { isAdmitted } from "../flow-statements.ts";
import { byConfig } from "../inputs.ts";
import { NEXT, STAY } from "../names.ts";
import { type Effects, next, reject } from "../outcome.ts";
import { confirmedAddress } from "../profile/confirmed-address.ts";
import { enterWithCode, isSignIn, resendCode, verifyCode } from "../sent-codes.ts";

type PasscodeContext = Context<"passcode">;

const codeInput = byConfig(({ email }) => {
  const code = z.string().length(6);
  const { passcode_charset: charset } = email;
  return z.strictObject({ code: charset === "numeric" ? code : code.meta({ charset }) });
});

/** The user enters the code that was mailed to the address of this flow. */
export const passcodeConfirmation = state({
  name: "passcode_confirmation",
  needs: ["passcode"],
  asks: (asking) => askToSend(asking, subjectOf(asking), isAdmitted),
  enter: (context, found) => enterWithCode(context, subjectOf(context), found),
  shows: ({ config }) => ({ code_lifetime: config.email.passcode_ttl }),
  actions: (action) => ({
    verify_passcode: action({
      description: "Enter the code that was sent.",
      costs: ["write"],
      input: codeInput,
      to: [NEXT],
      errors: ["passcode_invalid", "passcode_max_attempts_reached", "flow_discontinuity_error"],
      // A code that verifies an address is no sign-in.
      proves: ({ data }) =>
        data.passcode && isSignIn({ channel: byMail, ...data.passcode }) ? "passcode" : null,
      asks({ known, ...asking }) {
        const passcode = known?.view.data.passcode;
        if (!known || !passcode) return null;
        const about = subjectOf({
          ...known.view,
          flowId: asking.flowId,
          data: { ...known.view.data, passcode },
        });
        return askForPasscode({ ...asking, now: known.now }, about, isAdmitted);
      },
      async run(context, { code }, asked) {
        const verified = await verifyCode(context, subjectOf(context), code, asked);
        if (!verified.ok) return verified.rejection;
        const release = await releaseOf(context);
        if (release) return reject("flow_discontinuity_error", { writes: [verified.write, ...release] });
        const { writes = [], ...effects } = await confirmed(context);
        return next({ ...effects, writes: [verified.write, ...writes] });
      },
    }),
    resend_passcode: action({
      description: "Send a new code.",
      costs: ["write", "mail"],
      to: [STAY],
      errors: ["rate_limit_exceeded"],
      run: (context) => resendCode(context, subjectOf(context)),
    }),
    continue_to_login_method_chooser: continueToLoginMethodChooser,
    back,
  }),
});

function subjectOf({
  type,
  flowId,
  data,
  facts,
  config,
}: Pick<PasscodeContext, "type" | "flowId" | "data" | "facts" | "config">) {
  const { purpose, recipient, decoy, notice } = data.passcode;
  // A signed-in user chooses the address to verify, independent of the login identifier.
  const subject = type === "profile" && purpose === "email_verification" ? recipient : data.identifier?.value;
  return {
    channel: byMail,
    flowId,
    purpose,
    decoy,
    // Failed attempts of an attacker cannot block a passkey.
    hasAlternative: isSignIn({ channel: byMail, purpose }) && config.passkey.enabled && facts.hasPasskey,
    recipient: recipient ?? null,
    identifier: subject ?? recipient ?? "",
    ...(data.userId ? { userId: data.userId } : {}),
    ...(notice ? { notice } : {}),
  };
}

/**
 * Handles the owner of a mailbox whose address is unverified on an account with another, verified address or number: the
 * account belongs to a different person, so the address is released from it and the user is not signed in.
 *
 * @returns the writes that release the address; null in every other case
 */
async function releaseOf(context: PasscodeContext): Promise<Write[] | null> {
  const { type, data, facts, request, db } = context;
  const { tenant, now } = request;
  const { userId, passcode } = data;
  const { purpose, recipient: address } = passcode;
  if (type === "profile" || purpose === "email_verification" || !userId || !address) return null;
  if (await isVerified(context, userId, address)) return null;
  if (!facts.phoneVerified && !(await hasVerifiedEmail(db, tenant.id, userId))) return null;
  return [
    (tx) => releaseAddress(tx, tenant.id, { userId, address, now }),
    audit(request, "email_deleted", { email: address, by: "address verified by another account" }, userId),
    emit(request, "user.update.email.delete", userId),
  ];
}

/** Effects of a correct code, which proves control of the mailbox. */
async function confirmed(context: PasscodeContext): Promise<Effects> {
  const { type, data, facts, request } = context;
  const { now } = request;
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
  // Another flow of the user added an address concurrently.
  if (!userId || !address || facts.email !== null) return { data: { passcode: undefined } };
  return {
    data: { email: address, passcode: undefined },
    facts: { email: address, emailVerified: true },
    writes: [
      createEmail(request, userId, { address, isPrimary: true, verified: true }),
      audit(request, "email_created", { email: address }, userId),
      emit(request, "user.update.email.create", userId),
      audit(request, "email_verified", { email: address }, userId),
    ],
  };
}

/**
 * Effects of the first verification of an address. Credentials that were set before may belong to an attacker who
 * registered the address in advance (account pre-hijacking), so they are dropped; not in a profile flow, whose user is
 * signed in already.
 */
async function firstProof(context: PasscodeContext, userId: string, address: string): Promise<Effects> {
  const { type, request, flowId } = context;
  const { tenant, now } = request;
  if (await isVerified(context, userId, address)) return {};
  const mark: Write = (tx) => setEmailVerified(tx, tenant.id, { userId, address, now });
  const entry = audit(request, "email_verified", { email: address }, userId);
  if (type === "profile") return { facts: { emailVerified: true }, writes: [mark, entry] };
  return {
    facts: { emailVerified: true, ...noMethods, deviceTrusted: false },
    writes: [mark, entry, (tx) => dropCredentialsSetBeforeVerification(tx, request, userId, flowId)],
  };
}

/** Whether the account has verified the address. The step knows it of the primary one. */
async function isVerified(
  { facts, db, request }: PasscodeContext,
  userId: string,
  address: string,
): Promise<boolean> {
  if (facts.email === address) return facts.emailVerified;
  return isEmailVerified(db, request.tenant.id, { userId, address });
}
