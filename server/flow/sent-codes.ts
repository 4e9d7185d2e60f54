import type { Write } from "#db/write";
import { auditAttempt } from "../audit/audit.ts";
import { messageFacts } from "../audit/message-records.ts";
import type { PasscodeSubject } from "../methods/passcode/passcode-channel.ts";
import {
  type AskedToSend,
  ensurePasscodeSent,
  resendPasscode,
  type TriedPasscode,
  verifyPasscode,
} from "../methods/passcode/passcodes.ts";
import type { Job } from "../runtime.ts";
import type { Context, Entered } from "./define.ts";
import { stepError } from "./errors.ts";
import { causeOf, loginFailure } from "./login-failure.ts";
import type { STAY } from "./names.ts";
import { type Outcome, rateLimited, reject, retryPayload, stay } from "./outcome.ts";

/**
 * Sends the code of a state unless there is one that has not expired.
 *
 * @param asked what `askToSend` has found; null if it was not asked
 */
export async function enterWithCode<Purpose extends string, Sending extends Job>(
  context: Context,
  about: PasscodeSubject<Purpose, Sending>,
  asked: AskedToSend | null = null,
): Promise<Entered> {
  const sent = await ensurePasscodeSent(context.request, about, asked);
  if (sent.ok) return { writes: sent.writes, jobs: sent.jobs };
  const error = stepError("rate_limit_exceeded", { payload: retryPayload(sent.retryAfterSeconds) });
  return { error, writes: [withheld(context, about)] };
}

/** Sends a new code. */
export async function resendCode<Purpose extends string, Sending extends Job>(
  context: Context,
  about: PasscodeSubject<Purpose, Sending>,
): Promise<Outcome<typeof STAY, "rate_limit_exceeded">> {
  const sent = await resendPasscode(context.request, about);
  if (!sent.ok) return rateLimited(sent.retryAfterSeconds, { writes: [withheld(context, about)] });
  return stay({ writes: sent.writes, jobs: sent.jobs }, { enter: false });
}

/**
 * Verifies the code of a state.
 *
 * @param asked what `askForPasscode` has found; null if it was not asked
 * @returns the write that uses it up, or the rejection of the action
 */
export async function verifyCode<Purpose extends string, Sending extends Job>(
  context: Context,
  about: PasscodeSubject<Purpose, Sending>,
  code: string,
  asked: TriedPasscode | null = null,
): Promise<
  | { ok: true; write: Write }
  | { ok: false; rejection: Outcome<never, "passcode_invalid" | "passcode_max_attempts_reached"> }
> {
  const verified = await verifyPasscode(context.request, about, code, asked);
  if (verified.ok) return verified;
  const { reason } = verified;
  const { method } = about.channel;
  const writes = isSignIn(about)
    ? [loginFailure(context, { method, reason: about.userId ? reason : "unknown_identifier" })]
    : [];
  const rejection =
    reason === "exhausted"
      ? reject("passcode_max_attempts_reached", { writes })
      : reject("passcode_invalid", { input: "code", writes });
  return { ok: false, rejection };
}

/** Whether a code is a factor of an account; one that verifies a recipient is no sign-in. */
export function isSignIn<Purpose extends string, Sending>({
  channel,
  purpose,
}: Pick<PasscodeSubject<Purpose, Sending>, "channel" | "purpose">): boolean {
  return channel.proofs[purpose] !== "recipient";
}

/** The entry about a code that is not sent, which the page says too. */
function withheld<Purpose extends string, Sending extends Job>(
  context: Context,
  { channel, purpose, recipient, identifier }: PasscodeSubject<Purpose, Sending>,
): Write {
  const { request, flowId, data } = context;
  const { runtime, tenant } = request;
  const facts = messageFacts(runtime.vault, tenant.id, channel.name, purpose, recipient ?? identifier);
  const details = { ...facts, flow: flowId, reason: "rate_limited" } as const;
  const about = { userId: data.userId ?? null, cause: causeOf(context) };
  return auditAttempt(request, `${channel.name}_withheld`, details, about);
}
