/** Texts of the overview. */
export const overview = {
  sentence: "What was counted, beside the same length of time before.",
  step: "Step",
  steps: { hour: "By hour", day: "By day" },
  sign_ins: "Sign-ins",
  sign_ups: "Sign-ups",
  failures: "Failures",
  median: "Median sign-in time",
  p95: "p95 sign-in time",
  sessions: "Active sessions",
  atPresent: "at present",
  bounded: ({ count, more }: { count: number; more: boolean }) =>
    `${more ? "over " : ""}${count.toLocaleString("en")}`,
  change: (part: number) => {
    const percent = Math.round(Math.abs(part) * 100);
    return `${percent === 0 ? "" : part > 0 ? "+" : "−"}${percent.toLocaleString("en")} %`;
  },
  before: (shown: string) => `before: ${shown}`,
  chart: "Sign-ins over time",
  division: "Bars",
  divisions: {
    outcome: "By outcome",
    sign_ins: "Sign-ins by method",
    sign_ups: "Sign-ups by method",
    failures: "Failures by method",
  },
  odd: "Hours unlike the same hour of the days before",
  oddHour: (at: string, measure: string, count: number, usual: number) =>
    `${at}: ${count.toLocaleString("en")} ${measure}, usually ${usual.toLocaleString("en")}`,
  measures: { sign_ins: "sign-ins", failures: "failures" },
  causes: "Failures by cause",
  noFailures: "Nothing failed.",
  limits: "Rate limits that were exceeded",
  noLimits: "No limit was exceeded.",
  cause: "Name",
  count: "Count",
  countBefore: "Before",
  more: (count: number) => `and ${count} more`,
  health: "Health",
  channels: { mail: "Mail", sms: "SMS" },
  webhooks: "Webhooks",
  version: "Version",
  states: { none: "Not set up", well: "Working", some: "Some failed", failing: "Failing" },
  messages: (sent: number, failed: number, waiting: string) =>
    `${sent.toLocaleString("en")} sent, ${failed.toLocaleString("en")} failed, ${waiting} waiting`,
  notSetUp: {
    mail: "No mail server is set up: SMTP_URL.",
    sms: "No SMS service is set up: sms_delivery.account_sid.",
  },
  failingSince: "The server takes none since",
  deliveries: (
    { delivered, retried, failed }: { delivered: number; retried: number; failed: number },
    waiting: string,
  ) =>
    `${delivered.toLocaleString("en")} delivered, ${retried.toLocaleString("en")} to repeat, ${failed.toLocaleString("en")} failed, ${waiting} waiting`,
  versions: (service: string, schema: number) => `Stile ${service}, database schema ${schema}`,
  empty: "No user has signed in at this time",
  emptySentence: "If the service is new, begin here:",
  beginnings: [
    "Open the hosted page of this tenant at `/login`, and register an account.",
    "Connect your application, as `docs/embedding.md` and `docs/for-your-server.md` describe.",
    "Set `SMTP_URL`, so that mails leave this machine.",
    "Come back: the first sign-in is counted within five seconds.",
  ],
} as const;
