import pg from "pg";
import type { Logger } from "pino";
import type { Database } from "#db/client";
import { rejectsSessionParameters } from "#db/errors";
import { StartError } from "../config/errors.ts";

/** For each step of the trial. */
const TRY_TIMEOUT_MS = 2_000;

const SETTING = "set STILE_DATABASE_PREPARED_STATEMENTS=false";

/** Any statement: what is tried is its name. */
const statement = { name: "stile_check_pooler", text: "select 1" };

/** SQLSTATE of a prepared statement that another connection has made, or that this one has not. */
const FOREIGN_STATEMENT = /^(?:42P05|26000)$/;

/**
 * Tries what a pooler in transaction mode may break, as the service will use it: prepared statements, and parameters of a
 * session. Without prepared statements there is nothing to try.
 *
 * @param url of the database in use
 * @throws StartError if the pooler breaks prepared statements or accepts no parameters of a session
 */
export async function checkPooler(
  url: string,
  { read, claim, prepares }: Pick<Database, "read" | "claim" | "prepares">,
  log: Pick<Logger, "warn">,
): Promise<void> {
  if (!prepares) return;
  const parameters = [
    {
      pool: read,
      name: "default_transaction_read_only",
      wanted: "on",
      lost: "reads are not kept from writing",
    },
    { pool: claim, name: "synchronous_commit", wanted: "off", lost: "claims wait for the disk" },
  ];
  for (const { pool, name, wanted, lost } of parameters) {
    const found = await settingOf(pool.$client, name);
    if (found !== wanted)
      log.warn(
        { parameter: name },
        `the database's pooler drops the parameters of a session (options), so that ${lost}`,
      );
  }
  try {
    if (!(await breaksStatements(url))) return;
  } catch (error) {
    // A pooler may have too few connections for it, or be busy with the start of others.
    log.warn({ err: error }, "whether the database's pooler keeps prepared statements could not be tried");
    return;
  }
  throw new StartError(`the database's pooler does not keep prepared statements: ${SETTING}`);
}

async function settingOf(pool: pg.Pool, name: string): Promise<string> {
  try {
    const { rows } = await pool.query<{ setting: string }>("select current_setting($1) as setting", [name]);
    return rows[0]?.setting ?? "";
  } catch (error) {
    if (!rejectsSessionParameters(error)) throw error;
    throw new StartError(`the database's pooler accepts no parameters of a session: ${SETTING}`);
  }
}

/**
 * Whether a statement that one connection has prepared turns up at another one, or is gone. The second connection holds
 * what the first has had, so that a pooler has to give the first another one.
 */
async function breaksStatements(url: string): Promise<boolean> {
  const limits = { connectionTimeoutMillis: TRY_TIMEOUT_MS, query_timeout: TRY_TIMEOUT_MS };
  const [one, other] = [
    new pg.Client({ connectionString: url, ...limits }),
    new pg.Client({ connectionString: url, ...limits }),
  ];
  for (const client of [one, other]) client.on("error", () => {});
  try {
    await one.connect();
    await one.query(statement);
    await other.connect();
    await other.query("begin");
    await other.query(statement);
    await one.query(statement);
    await other.query("commit");
    return false;
  } catch (error) {
    if (FOREIGN_STATEMENT.test((error as { code?: string }).code ?? "")) return true;
    throw error;
  } finally {
    // The second first: it holds a connection that the first may wait for.
    for (const client of [other, one]) void client.end().catch(() => {});
  }
}
