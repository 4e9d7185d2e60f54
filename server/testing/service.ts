import { type TestDatabase, testDatabase } from "./postgres.ts";
import { type RunningServer, startServer } from "./server.ts";
import { runStile } from "./stile.ts";

/** A running server with a database of its own, and the CLI beside it. */
export interface Service {
  server: RunningServer;
  database: TestDatabase;
  /**
   * Runs the CLI with the server's environment, and returns its output.
   *
   * @throws Error with what the CLI writes to standard error
   */
  stile(...words: string[]): Promise<string>;
  close(): Promise<void>;
}

/** @param settings environment variables of the server */
export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const database = await testDatabase();
  const own = {
    DATABASE_URL: database.url,
    SECRET_KEYS: "a key for this test alone",
    STILE_SESSION_ALGORITHM: "ES256",
    ...settings,
  };
  const server = await startServer({ env: own });
  return {
    server,
    database,
    async stile(...words) {
      const { code, out, err } = await runStile(words, { cwd: process.cwd(), env: server.environment });
      if (code !== 0) throw new Error(err);
      return out.trim();
    },
    async close() {
      await server.stop();
      await database.close();
    },
  };
}
