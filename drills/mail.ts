import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../server/testing/eventually.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { freePort } from "../server/testing/free-port.ts";
import { signUp } from "../server/testing/sign-up.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { type Drills, drill, type Findings, MAY_INTERRUPT, type Place, type Surroundings } from "./drill.ts";
import { password } from "./load.ts";

/** A mail server at one address, which can be exchanged for one that behaves badly. */
interface WithMail extends Surroundings {
  /** The mail server that takes mails now. */
  smtp: SmtpCatcher;
  /** Mails that were taken so far. */
  received(): SmtpCatcher["messages"];
  /** Has another mail server at the address; null for none. */
  exchange(behaviour: Parameters<typeof startSmtp>[0] | null): Promise<void>;
}

async function withMail(): Promise<WithMail> {
  const port = await freePort();
  const all = [await startSmtp({ port })];
  const around = {
    env: { SMTP_URL: `smtp://127.0.0.1:${port}`, STILE_EMAIL_USE_FOR_AUTHENTICATION: "true" },
    get smtp() {
      return all.at(-1) as SmtpCatcher;
    },
    received: () => all.flatMap(({ messages }) => messages),
    async exchange(behaviour: Parameters<typeof startSmtp>[0] | null) {
      await around.close();
      isOpen = behaviour !== null;
      if (behaviour) all.push(await startSmtp({ ...behaviour, port }));
    },
    async close() {
      if (isOpen) await around.smtp.close();
      isOpen = false;
    },
  };
  let isOpen = true;
  return around;
}

/** Visitors who sign in by a mailed code, beside those with a password. Each login of either is mailed to its account. */
const VISITORS = 20;

/** How long the mail server takes no mails. */
const OUTAGE_MS = 8_000;

const addressOf = (visitor: number) => `reader${visitor}@example.com`;

/** Visitors ask for codes while the mail server behaves badly, and sign in by them once it is back. */
async function signInByMail(
  { url, metric }: Place,
  around: WithMail,
  badly: Parameters<typeof startSmtp>[0] | null,
): Promise<Findings> {
  const visitors = Array.from({ length: VISITORS }, (_, visitor) => addressOf(visitor));
  for (const email of visitors) await signUp(flowClient(url), { email, password });
  await around.exchange(badly);
  const began = performance.now();
  const waiting: { email: string; client: ReturnType<typeof flowClient> }[] = [];
  for (const email of visitors) {
    const client = flowClient(url);
    await client.start("login", { capabilities: {} });
    await client.act("continue_with_login_identifier", { email });
    if (client.state.actions.continue_to_passcode_confirmation)
      await client.act("continue_to_passcode_confirmation");
    if (!client.state.actions.verify_passcode) throw new Error(`no code was sent in ${client.state.name}`);
    waiting.push({ email, client });
  }
  await pause(OUTAGE_MS - (performance.now() - began));
  await around.exchange({});
  const back = performance.now();
  let last = 0;
  const faults: string[] = [];
  await Promise.all(
    waiting.map(async ({ email, client }) => {
      const code = await around.smtp.codeFor(email);
      last = Math.max(last, performance.now() - back);
      await client.act("verify_passcode", { code });
      while (client.state.actions.skip) await client.act("skip");
      if (client.state.name !== "success")
        faults.push(`${email} has a code, and ends in ${client.state.name} (${client.state.error?.code})`);
    }),
  );
  // The mails of the password logins of the outage, too.
  await eventually(async () => {
    const oldest = await metric('stile_jobs_oldest_seconds{stile_job="send_mail"}');
    if (!(oldest < 2)) throw new Error("mails wait");
  });
  const ids = around.received().map(({ messageId }) => messageId);
  const again = ids.length - new Set(ids).size;
  const codes = around.received().filter(({ text }) => /^\s*\d{6}\s*$/m.test(text ?? "")).length;
  const givenUp = await metric('sum(stile_messages_total{stile_outcome!="sent"}) or vector(0)');
  return {
    notes: [
      `${ids.length} mails, ${codes} with codes; the last code came ${(last / 1_000).toFixed(1)} s after the mail server`,
    ],
    faults: [
      ...faults,
      ...(codes === VISITORS ? [] : [`${VISITORS} visitors got ${codes} codes`]),
      ...(again > 0 ? [`${again} mails came twice`] : []),
      ...(givenUp > 0 ? [`${givenUp} mails are given up`] : []),
    ],
  };
}

const common = {
  log: /job failed and will be retried/,
  mayMissMs: 2_000,
  mayInterrupt: MAY_INTERRUPT,
  surround: withMail,
};

/** The mail server takes no mails. */
export const mailDrills: Drills = {
  "mail-down": drill({
    ...common,
    done: "the mail server is down for eight seconds",
    alert: "StileMailsFail",
    harm: (_, around, place) => signInByMail(place, around, null),
  }),
  "mail-hanging": drill({
    ...common,
    done: "the mail server takes mails and does not answer for eight seconds",
    alert: "StileJobsWait",
    harm: (_, around, place) => signInByMail(place, around, { reply: () => new Promise(() => {}) }),
  }),
  "mail-refusing": drill({
    ...common,
    done: "the mail server refuses mails for eight seconds (451)",
    alert: "StileMailsFail",
    harm: (_, around, place) => signInByMail(place, around, { reply: () => 451 }),
  }),
};
