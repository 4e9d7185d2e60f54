import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isInstalled } from "../scripts/test-programs.ts";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { copyTemplate, startTestCluster } from "../server/testing/postgres-cluster.ts";
import { type ShiftedClock, shiftedClock } from "../server/testing/shifted-clock.ts";
import { signUp } from "../server/testing/sign-up.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { type Drills, drill, type Findings, MAY_INTERRUPT, type Place, type Surroundings } from "./drill.ts";
import { password } from "./load.ts";

/** A clock that a drill sets, and a server that mails codes. */
interface WithClock extends Surroundings {
  clock: ShiftedClock;
  smtp: SmtpCatcher;
}

const settingsOf = ({ url }: SmtpCatcher) => ({
  SMTP_URL: url,
  STILE_EMAIL_USE_FOR_AUTHENTICATION: "true",
});

/** The server goes by the clock, its embedded PostgreSQL does not. */
async function withServerClock(): Promise<WithClock> {
  const [clock, smtp] = [shiftedClock(), await startSmtp()];
  return {
    clock,
    smtp,
    env: { ...settingsOf(smtp), ...clock.env },
    async close() {
      await smtp.close();
      clock.remove();
    },
  };
}

/** PostgreSQL goes by the clock, the server does not. */
async function withDatabaseClock(): Promise<WithClock> {
  const [clock, smtp] = [shiftedClock(), await startSmtp()];
  const postgres = await startTestCluster(undefined, (program, folder) => {
    const file = join(folder, "postgres");
    const variables = Object.entries(clock.env).map(([name, value]) => `export ${name}='${value}'\n`);
    writeFileSync(file, `#!/bin/sh\n${variables.join("")}exec '${program}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  });
  const { url } = await copyTemplate(postgres.cluster);
  return {
    clock,
    smtp,
    env: { ...settingsOf(smtp), DATABASE_URL: url },
    async close() {
      await postgres.stop();
      await smtp.close();
      clock.remove();
    },
  };
}

const email = "patient@example.com";

/** An account of its own: its first code proves the address, which takes a password of before away (decision 3). */
const emailOfCodes = "reader@example.com";

/** What a visitor has when a clock is set. */
interface Visitor {
  /** A session. */
  session: FlowClient;
  /** A login that waits for its password. */
  begun: FlowClient;
  /** A login that waits for a code, and the code. */
  coded: FlowClient;
  code: string;
}

async function visit(url: string, smtp: SmtpCatcher): Promise<Visitor> {
  const identified = async (address = email) => {
    const client = flowClient(url);
    await client.start("login", { capabilities: {} });
    await client.act("continue_with_login_identifier", { email: address });
    return client;
  };
  const session = await identified();
  await session.act("continue_to_password_login");
  await session.act("password_login", { password });
  const begun = await identified();
  await begun.act("continue_to_password_login");
  const coded = await identified(emailOfCodes);
  const before = smtp.messages.length;
  if (coded.state.actions.continue_to_passcode_confirmation)
    await coded.act("continue_to_passcode_confirmation");
  return { session, begun, coded, code: await smtp.codeFor(emailOfCodes, before) };
}

/** What became of each: `valid`, or what the visitor is told. */
async function becameOf({ session, begun, coded, code }: Visitor): Promise<Record<keyof Visitor, string>> {
  const answer = await session.request("/sessions/validate");
  const { is_valid } = (await answer.json()) as { is_valid: boolean };
  await begun.act("password_login", { password });
  await coded.act("verify_passcode", { code });
  const told = ({ state }: FlowClient) =>
    state.name === "success" ? "valid" : (state.error?.code ?? `in ${state.name}`);
  const [flow, ofCode] = [told(begun), told(coded)];
  return { session: is_valid ? "valid" : "refused", begun: flow, coded: ofCode, code: ofCode };
}

/**
 * Time in which a clock counts as set. It is wrong for two of them, which is longer than the ten seconds for which a server
 * holds what it has measured, so that an alert sees it.
 */
const SETTLING_MS = 7_000;

/**
 * Sets the clock to an hour ahead, to an hour behind, and right again, and looks each time what has become of a session, a
 * flow and a code of before.
 *
 * @param expected what the flow and the code may meet: a session has to stay valid
 */
async function setTheClock(
  { url }: Place,
  { clock, smtp }: WithClock,
  expected: Readonly<Record<string, string>>,
): Promise<Findings> {
  for (const each of [email, emailOfCodes]) await signUp(flowClient(url), { email: each, password });
  const notes: string[] = [];
  const faults: string[] = [];
  const steps = { "an hour ahead": 1, "an hour behind": -1, "right again": 0 };
  for (const [name, hours] of Object.entries(steps)) {
    const visitor = await visit(url, smtp);
    clock.set(hours);
    await pause(SETTLING_MS);
    const { session, begun, coded } = await becameOf(visitor);
    const found = `session ${session}, flow ${begun}, code ${coded}`;
    notes.push(`${name}: ${found}`);
    if (found !== expected[name]) faults.push(`${name}: ${found}, not ${expected[name]}`);
  }
  return { notes, faults };
}

const unharmed = "session valid, flow valid, code valid";
const expired = "session valid, flow flow_expired_error, code flow_expired_error";

const common = {
  alert: "StileClock",
  mayMissMs: 4_000,
  obstacle: () => (isInstalled("faketime") ? null : "faketime is not installed (apt-get install faketime)"),
};

/** Clocks are wrong. */
export const clockDrills: Drills = {
  "server-clock": drill({
    ...common,
    done: "the server's clock is set an hour ahead, an hour behind, and right again",
    mayInterrupt: MAY_INTERRUPT,
    surround: withServerClock,
    harm: (_, around, place) =>
      setTheClock(place, around, {
        "an hour ahead": unharmed,
        "an hour behind": unharmed,
        "right again": unharmed,
      }),
  }),
  "database-clock": drill({
    ...common,
    done: "the clock of PostgreSQL is set an hour ahead, an hour behind, and right again",
    surround: withDatabaseClock,
    harm: (_, around, place) =>
      setTheClock(place, around, {
        "an hour ahead": expired,
        "an hour behind": unharmed,
        "right again": expired,
      }),
  }),
};
