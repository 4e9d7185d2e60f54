import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { answerPage } from "../../../hosted/answer.ts";
import { ConfigError, StartError } from "../../config/errors.ts";
import { loadConfig } from "../../config/load.ts";
import { currentTime } from "../../database/current-time.ts";
import { addStep, type FlowCoverage } from "../../flow/coverage.ts";
import { loggablePath } from "../../http/addresses.ts";
import { securityHeaders } from "../../http/answer/security-headers.ts";
import { dispatch } from "../../http/dispatch.ts";
import type { Platform } from "../../lib/platform.ts";
import { newestMails } from "../../mail/mailbox.ts";
import { createPasswordHasher } from "../../methods/password/password-hasher.ts";
import { ImportError } from "../../moving/import-error.ts";
import { reportTo } from "../../moving/import-report.ts";
import { importUsers } from "../../moving/import-users.ts";
import { createLogger } from "../../observability/logger.ts";
import { holdRuntime } from "../../runtime-slot.ts";
import { createRuntime } from "../../start/boot.ts";
import { createListener, type Destinations } from "../../start/listener.ts";
import { copyTemplate, startTestCluster } from "../postgres-cluster.ts";
import type { FromHost, HostCalls, HostOptions, ToHost } from "./host-calls.ts";
import { browserCookie, newSession, startAt } from "./start-at.ts";
import { WishError } from "./wish-error.ts";

/**
 * The process of a server for tests. The process of the test starts it, and talks to it over the channel between the
 * two; when that closes, for whatever reason, the server and its database end. Nothing of this is reachable over HTTP.
 */

/** Time in which open requests of a server that stops may end. */
const CLOSE_MS = 200;

if (!process.send || process.env.NODE_ENV === "production") {
  process.stderr.write("stile: the server for tests is started by @stile-auth/testing, outside production\n");
  process.exit(1);
}

const send = (message: FromHost) => void process.send?.(message);
const cleanups: (() => Promise<unknown> | unknown)[] = [];
let ending = false;

async function stop(): Promise<void> {
  for (const cleanUp of cleanups.splice(0).reverse()) await Promise.resolve(cleanUp()).catch(() => {});
}

function end(): void {
  if (ending) return;
  ending = true;
  void stop().then(() => process.exit(0));
}

process.once("disconnect", end);
// An interrupt from the keyboard reaches this process too; the test's own process decides.
process.on("SIGINT", () => {});
process.on("SIGTERM", end);

process.on("message", (message: ToHost) => {
  if (message.kind === "stop") return end();
  if (message.kind === "start") return void begin(message.options);
});

async function begin(options: HostOptions): Promise<void> {
  try {
    const { url, calls } = await serve(options);
    process.on("message", (message: ToHost) => {
      if (message.kind === "call") void answer(calls, message);
    });
    send({ kind: "ready", url });
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    send({ kind: "failed", reason: known ? error.message : ((error as Error).stack ?? String(error)) });
    end();
  }
}

async function answer(calls: HostCalls, message: ToHost & { kind: "call" }): Promise<void> {
  const { id, name, parameters } = message;
  try {
    const call = calls[name] as (...given: unknown[]) => Promise<unknown>;
    send({ kind: "result", id, value: await call(...parameters) });
  } catch (error) {
    const known = error instanceof WishError || error instanceof ImportError;
    const reason = known ? error.message : ((error as Error).stack ?? String(error));
    send({ kind: "rejected", id, reason });
  }
}

async function serve({ settings, coverageFolder }: HostOptions): Promise<{ url: string; calls: HostCalls }> {
  const folder = mkdtempSync(join(tmpdir(), "stile testing "));
  // PostgreSQL may run under another account, which needs access to this folder.
  chmodSync(folder, 0o711);
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "stile.config.json"), JSON.stringify(settings));

  const log = createLogger("silent");
  const ready = Promise.withResolvers<Destinations>();
  ready.promise.catch(() => {});
  const environment = (port: number) => ({
    NODE_ENV: "development",
    PORT: String(port),
    SECRET_KEYS: randomBytes(24).toString("hex"),
    DATA_DIR: folder,
  });
  const first = loadConfig(environment(0), folder);
  const [listener, cluster] = await Promise.all([
    Promise.resolve(
      createListener({
        log,
        trustedProxies: first.server.trusted_proxies,
        errorHeaders: securityHeaders(first),
        sendTimeoutMs: first.server.send_timeout * 1_000,
        destinations: ready.promise,
      }),
    ),
    startTestCluster(),
  ]);
  cleanups.push(cluster.stop);
  const port = await listener.listen(0, "localhost");
  cleanups.push(() => listener.close(CLOSE_MS));
  const { url: databaseUrl } = await copyTemplate(cluster.cluster);
  const config = loadConfig({ ...environment(port), DATABASE_URL: databaseUrl }, folder);

  const coverage: FlowCoverage = { edges: new Set(), errors: new Set() };
  const clock = movableClock();
  const runtime = await createRuntime(config, { log, worker: true, platform: clock.platform });
  cleanups.push(() => runtime.stop());
  // The smallest memory of argon2, for speed.
  const hash = { ...config.password.hash, memory: 8, passes: 1 };
  runtime.passwordHasher = createPasswordHasher({ ...config.password, hash });
  runtime.stepObservers.push((step) => addStep(coverage, step));
  holdRuntime(runtime);
  if (coverageFolder !== null) cleanups.push(() => writeCoverage(coverageFolder, coverage));

  ready.resolve({ api: dispatch, loggable: loggablePath, pages: answerPage });

  const calls: HostCalls = {
    async addUser({ id, record, password }) {
      const password_hash = password === null ? null : await runtime.passwordHasher.hash(password);
      const line = JSON.stringify({ ...record, id, password_hash });
      let refused: string | null = null;
      await importUsers(
        runtime,
        runtime.tenant,
        Readable.from([Buffer.from(line)]),
        { form: "stile", providers: {}, dryRun: false, resume: false, emitEvents: false },
        reportTo(({ reason }) => {
          refused = reason;
        }),
      );
      if (refused !== null) throw new WishError(`the user was refused: ${refused}`);
      return { id };
    },
    startAt: (wish) => startAt(runtime, wish),
    async session({ id, methods }) {
      const { token, cookie } = await newSession(runtime, id, methods);
      return { token, cookie: browserCookie(cookie, config.base_url) };
    },
    async mails(to) {
      const mails = await newestMails(runtime.database.read, to === null ? {} : { to });
      return mails.reverse().map(({ id, recipient, subject, text, html, createdAt }) => ({
        id,
        to: recipient,
        subject,
        text,
        html,
        sentAt: createdAt,
      }));
    },
    now: async () => (await currentTime(runtime)).getTime(),
    async moveClock(milliseconds) {
      clock.move(milliseconds);
      return (await currentTime(runtime)).getTime();
    },
    async holdClock(at) {
      clock.hold(at);
      return (await currentTime(runtime)).getTime();
    },
    coverage: async () => ({ edges: [...coverage.edges].sort(), errors: [...coverage.errors].sort() }),
  };
  return { url: config.base_url, calls };
}

/** A clock that can be moved, and held. Times are milliseconds since 1970. */
function movableClock() {
  let shift = 0;
  let heldAt: number | null = null;
  const platform: Platform = {
    randomBytes,
    uuid: randomUUID,
    clockShift: () => (heldAt === null ? shift : heldAt - Date.now()),
  };
  return {
    platform,
    move(milliseconds: number) {
      if (heldAt === null) shift += milliseconds;
      else heldAt += milliseconds;
    },
    hold(at: number | null) {
      if (at === null && heldAt !== null) shift = heldAt - Date.now();
      heldAt = at;
    },
  };
}

/** A file of its own for each server, because many run beside and after each other. */
function writeCoverage(folder: string, { edges, errors }: FlowCoverage): void {
  mkdirSync(folder, { recursive: true });
  const content = JSON.stringify({ edges: [...edges].sort(), errors: [...errors].sort() });
  writeFileSync(join(folder, `${randomUUID()}.json`), `${content}\n`);
}
