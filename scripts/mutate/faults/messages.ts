import type { Fault } from "../fault.ts";

/** Faults of mails and of codes by SMS. */
export const messageFaults: readonly Fault[] = [
  {
    name: "a premium number gets an SMS",
    file: "server/identity/phone/phone-number.ts",
    text: "if (!isAllowed || !acceptedTypes.has(parsed.getType()))",
    fault: "if (!isAllowed)",
    caughtBy: ["server/identity/phone/phone-number.test.ts"],
  },
  {
    name: "a number of a country that is not allowed gets an SMS",
    file: "server/identity/phone/phone-number.ts",
    text: "if (!isAllowed || !acceptedTypes.has(parsed.getType()))",
    fault: "if (!acceptedTypes.has(parsed.getType()))",
    caughtBy: ["server/identity/phone/phone-number.test.ts"],
  },
  {
    name: "adjacent numbers have no limit together",
    file: "server/sms/sms-limits.ts",
    text: "scope + named.slice(0, -DIGITS_OF_RANGE)",
    fault: "scope + named",
    caughtBy: ["server/sms/sms-limits.test.ts"],
  },
  {
    name: "an error number in an accepted answer is taken for success",
    file: "server/sms/http-transport.ts",
    text: "if (data.error_code !== null)",
    fault: "if (data.error_code === 0)",
    caughtBy: ["server/sms/http-transport.test.ts"],
  },
  {
    name: "password and code follow a redirect to another host",
    file: "server/sms/http-transport.ts",
    text: 'redirect: "manual"',
    fault: 'redirect: "follow"',
    caughtBy: ["server/sms/http-transport.test.ts"],
  },
  {
    name: "an answer of any length is read",
    file: "server/sms/http-transport.ts",
    text: "if (size > MAX_ANSWER_BYTES) return undefined;",
    fault: "",
    caughtBy: ["server/sms/http-transport.test.ts"],
  },
  {
    name: "an SMS that may have been sent is sent again until its code expires",
    file: "server/sms/send-sms.ts",
    text: "|| number < MAX_UNCERTAIN_ATTEMPTS",
    fault: "|| number > 0",
    caughtBy: ["server/sms/send-sms.test.ts"],
  },
  {
    name: "an SMS waits for a service beyond the life of its code",
    file: "server/jobs/queue.ts",
    text: "keep_until - make_interval(",
    fault: "keep_until + make_interval(",
    caughtBy: ["server/sms/send-sms.test.ts"],
  },
  {
    name: "a job that another server has taken after its lease is deleted by the one that had it before",
    file: "server/jobs/queue.ts",
    text: "and retry_count = ($3::int[])[array_position($2::uuid[], id)]",
    fault: "and $3::int[] is not null",
    caughtBy: ["server/jobs/statements.test.ts"],
  },
  {
    name: "any number of mails wait for a tenant's own mail server",
    file: "server/mail/tenant-mail.ts",
    text: "? MAX_WAITING_OF_OWN_SERVER : undefined",
    fault: "? 100 * MAX_WAITING_OF_OWN_SERVER : undefined",
    caughtBy: ["server/mail/tenant-mail.test.ts"],
  },
  {
    name: "a tenant that changes its mail server has places at each of them",
    file: "server/mail/tenant-mail.ts",
    text: "turns.take(tenant.id, ownServers)",
    fault: 'turns.take(tenant.config.smtp_url ?? "", ownServers)',
    caughtBy: ["server/mail/tenant-mail.test.ts"],
  },
  {
    name: "a mail server that does not answer gets as many mails as any",
    file: "server/mail/smtp-transport.ts",
    text: "isSilent = signal.aborted ||",
    fault: "isSilent = signal.aborted &&",
    caughtBy: ["server/mail/smtp-transport.test.ts"],
  },
];
