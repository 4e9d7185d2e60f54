import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../tenants/manage-tenants.ts";
import { eventually } from "../testing/eventually.ts";
import { exportAll } from "../testing/moving.ts";
import { folderForTests, openForTests, runtimeForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { run } from "../testing/program.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "server", "cli", "stile.ts");
const { userImports } = schema;

const runtime = await runtimeForTests();
const postgres = await openForTests(testDatabase());
const folder = folderForTests("killed");

test("A113 an import that is killed three times and resumed is that of an uninterrupted one", async () => {
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_ENV: "development" as const,
    DATABASE_URL: postgres.url,
    SECRET_KEYS: "a key for tests alone",
  };
  const file = join(folder, "users.jsonl");
  const lines = Array.from({ length: 12_000 }, (_, index) =>
    index % 500 === 250
      ? "not a user"
      : JSON.stringify({
          id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
          emails: [{ address: `user${index % 500 === 7 ? 1 : index}@example.com` }],
          created_at: "2020-01-02T03:04:05.678Z",
        }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  const context = { ...runtime, database: postgres.database };
  const [whole, killed] = [
    await createTenant(context, { name: "Whole", hosts: [], settings: {} }),
    await createTenant(context, { name: "Killed", hosts: [], settings: {} }),
  ];
  const words = (tenant: string, report: string, ...more: string[]) => [
    program,
    "users",
    "import",
    file,
    "--tenant",
    tenant,
    "--report",
    join(folder, report),
    "--json",
    ...more,
  ];
  const start = { cwd: root, env };
  const expected = await run(process.execPath, words(whole.id, "whole"), start);
  expect(expected).toMatchObject({ code: 1, err: "stile: 48 refused\n" });

  let reached = 0;
  for (let kills = 0; kills < 3; kills += 1) {
    const more = kills > 0 ? ["--resume"] : [];
    const child = spawn(process.execPath, words(killed.id, "killed", ...more), { ...start, stdio: "ignore" });
    const ended = once(child, "exit");
    reached = await eventually(async () => {
      const [row] = await postgres.database.read.select().from(userImports);
      expect(row?.records ?? 0).toBeGreaterThan(reached);
      return row?.records ?? 0;
    });
    child.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
  }
  const resumed = await run(process.execPath, words(killed.id, "killed", "--resume"), start);
  const { resumedAfter, ...result } = JSON.parse(resumed.out);
  expect(resumedAfter).toBeGreaterThanOrEqual(reached);
  expect({ ...result, resumedAfter: 0 }).toEqual(JSON.parse(expected.out));
  expect(result).toMatchObject({ imported: 11_952, refused: 48 });
  expect(readFileSync(join(folder, "killed"), "utf8")).toBe(readFileSync(join(folder, "whole"), "utf8"));
  const ids = async (tenant: typeof whole) => (await exportAll(context, tenant, false)).map(({ id }) => id);
  expect(await ids(killed)).toEqual(await ids(whole));
});
