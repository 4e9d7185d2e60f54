import { z } from "zod";
import { ensureSent, judgePasscode, type PasscodeSubject, resend } from "../../credentials/passcodes.ts";
import { dropCredentialsSetBeforeVerification } from "../../identity/first-proof.ts";
import { addEmail, isProved, setEmailVerified } from "../../identity/users.ts";
import { back } from "../actions/back.ts";
import { type Context, type Entered, state } from "../define.ts";
import { problemOf } from "../errors.ts";
import { NEXT, STAY } from "../names.ts";
import { type Effects, next, refuse, stay, tooFast, waiting } from "../outcome.ts";

type Awaiting = Context<"passcode">;

/** A six-digit code was mailed to the address this flow is about; the person types it in. */
export const passcodeConfirmation = state({
  name: "passcode_confirmation",
  needs: ["passcode"],
  async enter(context) {
    const { limited, ...sent } = await ensureSent(context.scope, subjectOf(context));
    return limited ? { ...sent, problem: tooSoon(limited.retryAfterSeconds) } : sent;
  },
  actions: (action) => ({
    verify_passcode: action({
      description: "Enter the code that was sent.",
      input: z.strictObject({ code: z.string().length(6) }),
      to: [NEXT],
      errors: ["passcode_invalid", "passcode_max_attempts_reached", "rate_limit_exceeded"],
      async run(context, { code }) {
        const judged = await judgePasscode(context.scope, subjectOf(context), code);
        if (judged.result === "limited") return tooFast(judged.retryAfterSeconds);
        if (judged.result === "exhausted") return refuse("passcode_max_attempts_reached");
        if (judged.result === "wrong") return refuse("passcode_invalid", { input: "code" });
        const { writes = [], ...effects } = await confirmed(context);
        return next({ ...effects, writes: [judged.take, ...writes] });
      },
    }),
    resend_passcode: action({
      description: "Send a new code.",
      to: [STAY],
      errors: ["rate_limit_exceeded"],
      async run(context) {
        const { limited, ...sent } = await resend(context.scope, subjectOf(context));
        return limited ? tooFast(limited.retryAfterSeconds) : stay(sent, { enter: false });
      },
    }),
    back,
  }),
});

function subjectOf({ flowId, data, facts, config }: Awaiting): PasscodeSubject {
  const { purpose, recipient, genuine, notice } = data.passcode;
  return {
    flowId,
    purpose,
    genuine,
    // Nobody but its owner can make a passkey fail.
    otherWayIn: purpose !== "email_verification" && config.passkey.enabled && facts.hasPasskey,
    recipient: recipient ?? null,
    identifier: data.identifier?.value ?? recipient ?? "",
    ...(data.userId ? { userId: data.userId } : {}),
    ...(notice ? { notice } : {}),
  };
}

function tooSoon(seconds: number): NonNullable<Entered["problem"]> {
  return problemOf("rate_limit_exceeded", { payload: waiting(seconds) });
}

/** What follows from a right code: the person holds the mailbox. */
async function confirmed(context: Awaiting): Promise<Effects> {
  const { type, data, facts, scope } = context;
  const { tenant, now, runtime } = scope;
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
  if (type === "registration") return { data: { emailVerified: true, passcode: undefined } };
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
          id: runtime.environment.uuid(),
          now,
        }),
    ],
  };
}

/**
 * While nobody had proved this address, whoever set the account's credentials may have been a stranger who waited for
 * its owner to come: they go.
 */
async function firstProof(
  { scope, db, flowId }: Awaiting,
  userId: string,
  address: string,
): Promise<Effects> {
  const { tenant, now } = scope;
  if (await isProved(db, tenant.id, { userId, address })) return {};
  return {
    facts: { emailVerified: true, hasPassword: false, hasPasskey: false },
    writes: [
      (tx) => setEmailVerified(tx, tenant.id, { userId, address, now }),
      (tx) => dropCredentialsSetBeforeVerification(tx, tenant.id, userId, flowId),
    ],
  };
}
