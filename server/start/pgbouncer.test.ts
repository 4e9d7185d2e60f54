import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { isInstalled } from "../../scripts/test-programs.ts";
import { flowClient } from "../testing/flow-client.ts";
import { walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { type PgBouncer, pgBouncerVersion, startPgBouncer } from "../testing/pgbouncer.ts";
import { copyTemplate } from "../testing/postgres-cluster.ts";
import { startServer } from "../testing/server.ts";
import { signUp } from "../testing/sign-up.ts";

const missing = isInstalled("pgbouncer")
  ? false
  : "skipped: pgbouncer is not installed (apt-get install pgbouncer)";

/** Whether it keeps prepared statements of connections in transaction mode (PgBouncer 1.21). */
const keepsPrepared = missing === false && pgBouncerVersion() >= 1.21;

/** What PgBouncer 1.18 does not know and drops; without it a connection with `options` is refused. */
const drops = { ignore_startup_parameters: "extra_float_digits,options" };

describe.skipIf(missing)("behind PgBouncer in transaction mode", () => {
  let database: Awaited<ReturnType<typeof copyTemplate>>;
  const open: PgBouncer[] = [];

  beforeEach(async () => {
    database = await copyTemplate(inject("postgres"));
  });

  afterEach(async () => {
    for (const pooler of open.splice(0)) await pooler.close();
    await database.drop();
  });

  async function through(settings: Record<string, string>): Promise<string> {
    const pooler = await startPgBouncer(database.url, settings);
    open.push(pooler);
    return pooler.url;
  }

  test.skipIf(keepsPrepared)(
    "a server with prepared statements does not start, and says what to set",
    async () => {
      const url = await through(drops);
      await expect(startServer({ env: { DATABASE_URL: url } })).rejects.toThrow(
        "stile: the database's pooler does not keep prepared statements: set STILE_DATABASE_PREPARED_STATEMENTS=false",
      );
    },
  );

  test.skipIf(keepsPrepared)(
    "a server whose pooler refuses parameters of a session does not start, and says what to set",
    async () => {
      const url = await through({});
      await expect(startServer({ env: { DATABASE_URL: url } })).rejects.toThrow(
        "stile: the database's pooler accepts no parameters of a session: set STILE_DATABASE_PREPARED_STATEMENTS=false",
      );
    },
  );

  test("a server without prepared statements signs up and in, on few connections for many clients", async () => {
    const url = await through({ default_pool_size: "4" });
    const server = await startServer({
      env: {
        DATABASE_URL: url,
        STILE_DATABASE_PREPARED_STATEMENTS: "false",
        STILE_EMAIL_REQUIRE_VERIFICATION: "false",
        STILE_PASSKEY_ENABLED: "false",
        STILE_RATE_LIMITER_ENABLED: "false",
      },
    });
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        signUp(flowClient(server.url), {
          email: `ada${index}@example.com`,
          password: `a password of ada${index}`,
        }),
      ),
    );
    expect(server.logs()).not.toMatch(/"level":"error"/);
    await server.stop();
  });

  test.each([
    ...(keepsPrepared ? [{ with: "with", settings: { ...drops, max_prepared_statements: "500" } }] : []),
    { with: "without", settings: {} },
  ])(
    "every journey of users is walked to its end, $with prepared statements",
    async ({ with: prepares, settings }) => {
      const url = await through(settings);
      const walked = await walkJourneys({
        url,
        env: { STILE_DATABASE_PREPARED_STATEMENTS: String(prepares === "with") },
      });
      expect(walked.performed).toBeGreaterThan(100);
      expect(walked.server.logs()).not.toMatch(/"level":"error"/);
      await walked.stop();
    },
  );
});
