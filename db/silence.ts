import pg from "pg";
import { type Connection, streamOf } from "./connection.ts";

/** A connection that owes an answer, and has sent nothing for this time, is silent. */
const SILENT_AFTER_MS = 2_000;

/** How long PostgreSQL may take to answer a new connection while one is silent. */
const PROBE_TIMEOUT_MS = 4_000;

const LOOK_INTERVAL_MS = 500;

/** Errors of a network that has lost the host. With any other one, something has answered. */
const lostHost = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

/**
 * Ends silent connections of a PostgreSQL that hangs: that is paused, or whose host is gone without a word. TCP would wait
 * for minutes, or for ever. Statements on them fail as if the connection was lost.
 *
 * A statement may take as long as it needs: connections are only ended if PostgreSQL does not answer a new one either.
 *
 * @param url returns that of the server in use
 * @param connections those that are open; read at each look
 * @param onEnded called with the number of connections that were ended at once
 * @returns a function that ends the watch
 */
export function watchSilence(
  url: () => string,
  connections: ReadonlySet<Connection>,
  onEnded: (count: number) => void,
): () => void {
  let isProbing = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const silent = () => {
    const now = performance.now();
    return [...connections].filter((connection) => connection.silentMs(now) >= SILENT_AFTER_MS);
  };
  async function look(): Promise<void> {
    // Looked at each time: it is how a connection notices that it has received something.
    const found = silent();
    if (found.length === 0 || isProbing || performance.now() - answeredAt < SILENT_AFTER_MS) return;
    isProbing = true;
    const probed = url();
    if (await answers(probed)) answeredAt = performance.now();
    else if (probed === url()) {
      const hanging = silent();
      for (const connection of hanging) connection.abandon();
      if (hanging.length > 0) onEnded(hanging.length);
    }
    isProbing = false;
  }
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether PostgreSQL, or a pooler before it, answers a new connection, be it with an error. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const deadline = setTimeout(resolve, PROBE_TIMEOUT_MS, false);
  const asked = client
    .connect()
    .then(() => client.query("select 1"))
    .then(
      () => true,
      (error: NodeJS.ErrnoException) => !lostHost.has(error.code ?? ""),
    );
  const isAnswering = await Promise.race([asked, late]);
  clearTimeout(deadline);
  if (isAnswering) client.end().catch(() => {});
  else streamOf(client).destroy();
  return isAnswering;
}
