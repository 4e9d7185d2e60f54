import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import pg from "pg";

/**
 * Serves better-auth over PostgreSQL, with passwords and without limits, and sends the port to the parent process. It ends with
 * its parent.
 *
 * @param databaseUrl an empty database, in which the tables are made
 * @param more its other options
 * @param prepare writes what the benchmark needs, before the first request
 */
export async function serve(databaseUrl, more, prepare) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const options = {
    baseURL: `http://localhost:${port}`,
    secret: "a secret of the benchmark alone, which needs to be long",
    database: pool,
    rateLimit: { enabled: false },
    logger: { level: "error" },
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true },
    ...more,
  };
  const migrations = await getMigrations(options);
  await migrations.runMigrations();
  const auth = betterAuth(options);
  await prepare(auth, pool);
  await pool.query("analyze");

  server.keepAliveTimeout = 60_000;
  server.on("request", toNodeHandler(auth));
  process.send({ port });
}

process.on("disconnect", () => process.exit(0));
