import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDatabase } from "./postgres.ts";
import { type RunningServer, startServer } from "./server.ts";

/** A running server, and what the operator of an application that uses its passkey server is told. */
export interface PasskeyService {
  server: RunningServer;
  /** `<server>/passkeys` */
  base: string;
  tenantId: string;
  key: string;
  close(): Promise<void>;
}

const tool = join(import.meta.dirname, "../../bin/stile.js");

/** @param settings environment variables of the server */
export async function startPasskeyService(settings: Record<string, string> = {}): Promise<PasskeyService> {
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
  const { stdout } = await promisify(execFile)(tool, ["keys", "create", "--interface", "passkeys"], { env });
  return {
    server,
    base: `${server.url}/passkeys`,
    // As decided, and printed at the start.
    tenantId: "00000000-0000-4000-8000-000000000001",
    key: stdout.trim(),
    async close() {
      await server.stop();
      await database.close();
    },
  };
}
