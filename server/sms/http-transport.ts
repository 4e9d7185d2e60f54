import { z } from "zod";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { retryAfterSeconds } from "../lib/retry-after.ts";
import type { SmsTransport } from "./transport.ts";

/** After decompression. The answer about one SMS has some 1000 bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The longest period that Twilio accepts as `ValidityPeriod`, in seconds. */
const MAX_VALIDITY_SECONDS = 36_000;

/** What a service answers about an SMS that it was given, as Twilio's Messages resource. */
const accepted = z.object({
  sid: z.string().regex(/^\w{1,64}$/),
  status: z.string().regex(/^\w{1,32}$/),
  error_code: z.int().nullable().default(null),
});

/** What it answers to a request that it rejects. */
const rejected = z.object({ code: z.int() });

/** Error codes of Twilio about the sender, which all SMS have: missing, not a number of the account, an empty service. */
const ofSender: ReadonlySet<number> = new Set([
  21_212, 21_603, 21_606, 21_659, 21_660, 21_701, 21_703, 21_704, 21_705,
]);

const failedStatuses: readonly string[] = ["failed", "undelivered", "canceled"];

/** An SMS will never be accepted. */
export class SmsRejection extends PermanentFailure {
  /** Whether all SMS would be rejected, as with a wrong password. */
  readonly concernsService: boolean;

  constructor(message: string, { concernsService }: { concernsService: boolean }) {
    super(message);
    this.concernsService = concernsService;
  }
}

/** An attempt failed. `mayBeSent`: the service may have accepted the SMS all the same. */
export class SmsAttemptError extends Error {
  override name = "SmsAttemptError";
  readonly code: string;
  readonly responseCode: number | null;
  readonly retryAfterSeconds: number | null;
  readonly mayBeSent: boolean;

  constructor(
    code: string,
    details: { mayBeSent: boolean; responseCode?: number; retryAfterSeconds?: number | null },
  ) {
    super(code);
    this.code = code;
    this.mayBeSent = details.mayBeSent;
    this.responseCode = details.responseCode ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** Failures of `fetch` before a request is sent. Any other may come after the service has read it. */
const beforeSending =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|ERR_TLS_.*|ERR_SSL_.*)$/;

/**
 * Sends through a service with the interface of Twilio's Messages resource: `POST
 * /2010-04-01/Accounts/{sid}/Messages.json`, a form, with HTTP Basic authentication (RFC 7617). Redirects are not
 * followed, since password and code are for the configured host alone; no more than 64 KiB of an answer are read.
 *
 * @param sender the number, name or messaging service that sends
 * @param timeoutMs for one exchange
 */
export function createHttpTransport({
  url,
  accountSid,
  authToken,
  sender,
  timeoutMs,
}: {
  url: string;
  accountSid: string;
  authToken: string;
  sender: { From: string } | { MessagingServiceSid: string };
  timeoutMs: number;
}): SmsTransport {
  const address = `${url.replace(/\/+$/, "")}/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;

  return {
    async send({ to, text, validSeconds }, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(address, {
          method: "POST",
          headers: { Authorization: authorization, Accept: "application/json" },
          body: new URLSearchParams({
            To: to,
            ...sender,
            Body: text,
            // A code that has expired on the way is not delivered.
            ValidityPeriod: String(Math.min(validSeconds, MAX_VALIDITY_SECONDS)),
          }),
          redirect: "manual",
          signal: AbortSignal.any([signal, timeout]),
        });
        return judge(response, await readBounded(response));
      } catch (error) {
        if (error instanceof PermanentFailure || error instanceof SmsAttemptError || signal.aborted)
          throw error;
        if (timeout.aborted) throw new SmsAttemptError("SMS_SERVICE_TIMEOUT", { mayBeSent: true });
        const { cause } = error as { cause?: { code?: unknown } };
        const code = typeof cause?.code === "string" ? cause.code : "SMS_SERVICE_UNREACHABLE";
        throw new SmsAttemptError(code, { mayBeSent: !beforeSending.test(code) });
      }
    },
  };
}

/** @throws SmsRejection, SmsAttemptError */
function judge({ status, headers }: Response, body: unknown): string {
  if (status >= 300 && status < 400)
    throw new SmsRejection(`the service answers with a redirect: ${status}`, { concernsService: true });
  if (status >= 500 || status === 408 || status === 429) {
    const pause = retryAfterSeconds(headers.get("retry-after"));
    throw new SmsAttemptError("SMS_SERVICE_ERROR", {
      // A gateway gives other answers also when the service behind it has accepted the SMS.
      mayBeSent: status !== 429 && !(status === 503 && pause !== null),
      responseCode: status,
      retryAfterSeconds: pause,
    });
  }
  if (status >= 400) {
    const { data } = rejected.safeParse(body);
    const why = data ? `${status}, error ${data.code}` : String(status);
    // 400 is about this SMS or its sender; others about the account, its password or the address of the service.
    const concernsService = status !== 400 || (data !== undefined && ofSender.has(data.code));
    throw new SmsRejection(`the service rejected it: ${why}`, { concernsService });
  }
  const { data } = accepted.safeParse(body);
  if (!data) throw new SmsAttemptError("SMS_SERVICE_UNREADABLE", { mayBeSent: true, responseCode: status });
  if (data.error_code !== null)
    throw new SmsRejection(`the service did not send it: error ${data.error_code}`, {
      concernsService: false,
    });
  if (failedStatuses.includes(data.status))
    throw new SmsRejection(`the service did not send it: ${data.status}`, { concernsService: false });
  return `${status} ${data.status} ${data.sid}`;
}

/** Returns the JSON of a body; undefined if it is none, or too long. */
async function readBounded(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
