import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type TestDatabase, testDatabase } from "./postgres.ts";
import { type RunningServer, startServer } from "./server.ts";

/** A running server with a database of its own, and the tool beside it. */
export interface Service {
  server: RunningServer;
  database: TestDatabase;
  /** Runs the tool as the server's operator does, and gives what it prints. */
  stile(...words: string[]): Promise<string>;
  close(): Promise<void>;
}

const tool = join(import.meta.dirname, "../../bin/stile.js");

/** @param settings environment variables of the server */
export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const database = await testDatabase();
  const own = {
    DATABASE_URL: database.url,
    SECRET_KEYS: "a key for this walk alone",
    STILE_SESSION_ALGORITHM: "ES256",
    ...settings,
  };
  const server = await startServer({ env: own });
  const inherited = { NODE_ENV: "development", PATH: process.env.PATH, HOME: process.env.HOME };
  const env = { ...inherited, BASE_URL: server.url, DATA_DIR: server.dataDir, ...own } as NodeJS.ProcessEnv;
  return {
    server,
    database,
    async stile(...words) {
      const { stdout } = await promisify(execFile)(tool, words, { env });
      return stdout.trim();
    },
    async close() {
      await server.stop();
      await database.close();
    },
  };
}
