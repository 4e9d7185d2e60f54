import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { isInstalled } from "../../scripts/test-programs.ts";
import { flowClient } from "../testing/flow-client.ts";
import { type PgBouncer, startPgBouncer } from "../testing/pgbouncer.ts";
import { copyTemplate } from "../testing/postgres-cluster.ts";
import { startServer } from "../testing/server.ts";
import { signUp } from "../testing/sign-up.ts";

const missing = isInstalled("pgbouncer")
  ? false
  : "skipped: pgbouncer is not installed (apt-get install pgbouncer)";

/** What PgBouncer 1.18 does not know and drops; without it a connection with `options` is refused. */
const drops = { ignore_startup_parameters: "extra_float_digits,options" };

describe.skipIf(missing)("behind PgBouncer in transaction mode", () => {
  let database: Awaited<ReturnType<typeof copyTemplate>>;
  const open: PgBouncer[] = [];

  beforeAll(async () => {
    database = await copyTemplate(inject("postgres"));
  });

  afterEach(async () => {
    for (const pooler of open.splice(0)) await pooler.close();
  });

  afterAll(async () => database.drop());

  async function through(settings: Record<string, string>): Promise<string> {
    const pooler = await startPgBouncer(database.url, settings);
    open.push(pooler);
    return pooler.url;
  }

  test("a server with prepared statements does not start, and says what to set", async () => {
    const url = await through(drops);
    await expect(startServer({ env: { DATABASE_URL: url } })).rejects.toThrow(
      "stile: the database's pooler does not keep prepared statements: set STILE_DATABASE_PREPARED_STATEMENTS=false",
    );
  });

  test("a server whose pooler refuses parameters of a session does not start, and says what to set", async () => {
    const url = await through({});
    await expect(startServer({ env: { DATABASE_URL: url } })).rejects.toThrow(
      "stile: the database's pooler accepts no parameters of a session: set STILE_DATABASE_PREPARED_STATEMENTS=false",
    );
  });

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
});
