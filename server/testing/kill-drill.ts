import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { flowClient } from "./flow-client.ts";
import { startServer } from "./server.ts";
import { startReceiver } from "./webhook-receiver.ts";

/** What a drill found. */
export interface DrillResult {
  kills: number;
  /** Logins whose answer arrived, and those that were cut off. */
  answered: number;
  cut: number;
  /** Events in the database. */
  committed: number;
  /** Deliveries that waited, or were in hand, at a kill; summed over the kills. */
  interrupted: number;
  received: number;
  /** Ids of events that were committed and never arrived. */
  lost: string[];
  /** Ids that arrived and were not committed. */
  invented: string[];
  /** Events that arrived more than once. */
  repeated: number;
  /** Logins in the audit log and `user.login` events, which one transaction writes. */
  logins: { recorded: number; emitted: number };
}

const LOGINS_PER_KILL = 4;

const MAX_DELAY_MS = 400;
const MAX_PAUSE_AFTER_ANSWER_MS = 60;

const password = "correct horse battery staple";

/**
 * Kills a built server again and again while users sign in and their events are delivered, and compares what a receiver
 * got with what was committed.
 *
 * @param onKill called after each kill and restart
 */
export async function runKillDrill(
  kills: number,
  onKill: (kill: number) => void = () => {},
): Promise<DrillResult> {
  const receiver = await startReceiver();
  // Kills meet attempts in hand too.
  receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 30);
  const hooks = [{ callback: receiver.url, events: ["user", "session"] }];
  const server = await startServer({
    env: {
      STILE_RATE_LIMITER_ENABLED: "false",
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
      STILE_SESSION_ALGORITHM: "ES256",
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
      STILE_LOG_LEVEL: "error",
    },
  });
  let answered = 0;
  let cut = 0;
  let interrupted = 0;
  try {
    const emails = Array.from({ length: LOGINS_PER_KILL }, (_, index) => `user-${index}@example.com`);
    for (const email of emails) await register(server.url, email);
    for (let kill = 1; kill <= kills; kill += 1) {
      const clients = await Promise.all(emails.map((email) => readyToSignIn(server.url, email)));
      const logins = clients.map((client) =>
        client.act("password_login", { password }).then(
          ({ state }) => {
            if (state.name !== "success") throw new Error(`a login ended in ${state.name}`);
            answered += 1;
          },
          () => {
            cut += 1;
          },
        ),
      );
      // Most kills come soon after a commit; the others at any part of a login.
      if (kill % 4 === 0) await pause((kill * 37) % MAX_DELAY_MS);
      else await Promise.race(logins).then(() => pause((kill * 7) % MAX_PAUSE_AFTER_ANSWER_MS));
      await server.kill("SIGKILL");
      await Promise.all(logins);
      interrupted += Number(
        await query(server.dataDir, "select count(*) from webhook_deliveries where state = 'waiting'"),
      );
      await server.restart();
      onKill(kill);
    }
    const waiting = () =>
      query(server.dataDir, "select count(*) from webhook_deliveries where state = 'waiting'");
    while (Number(await waiting()) > 0) await pause(200);
    const ids = String(
      await query(server.dataDir, "select coalesce(string_agg(id::text, ','), '') from events"),
    );
    const committed = new Set(ids.split(",").filter((id) => id !== ""));
    const received = new Set(receiver.received.map(({ id }) => id));
    return {
      kills,
      answered,
      cut,
      interrupted,
      committed: committed.size,
      received: receiver.received.length,
      lost: [...committed].filter((id) => !received.has(id)),
      invented: [...received].filter((id) => !committed.has(id)),
      repeated: receiver.received.length - received.size,
      logins: {
        recorded: Number(
          await query(server.dataDir, "select count(*) from audit_logs where type = 'login_success'"),
        ),
        emitted: Number(await query(server.dataDir, "select count(*) from events where name = 'user.login'")),
      },
    };
  } finally {
    await server.stop();
    await receiver.close();
  }
}

async function register(url: string, email: string): Promise<void> {
  const client = flowClient(url);
  await client.start("registration");
  await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email });
  await client.act("register_password", { new_password: password });
  if (client.state.name !== "success") throw new Error(`a registration ended in ${client.state.name}`);
}

async function readyToSignIn(url: string, email: string) {
  const client = flowClient(url);
  await client.start("login");
  await client.act("register_client_capabilities");
  await client.act("continue_with_login_identifier", { email });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  return client;
}

/** Reads one value from the embedded database, which outlives the server. */
async function query(dataDir: string, text: string): Promise<unknown> {
  const [, , , port] = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
  const secret = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  const client = new pg.Client({ connectionString: `postgres://stile:${secret}@127.0.0.1:${port}/stile` });
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}
