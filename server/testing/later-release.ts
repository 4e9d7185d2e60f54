import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestDatabase } from "./postgres.ts";
import { type RunningServer, startServer } from "./server.ts";

/** A release that this version may not run beside. */
export const laterRelease = { version: "99.0.0", oldestBeside: "98.0.0" };

const root = join(import.meta.dirname, "../..");

/** What the built server reads, beside its package file. */
const read = ["db", "node_modules", "server"];

/** States that the later release has used a database, which this version is too old for from then on. */
export async function outgrow({ database }: Pick<TestDatabase, "database">): Promise<void> {
  const { version, oldestBeside } = laterRelease;
  await database.write.execute(
    `insert into releases (version, oldest_beside) values ('${version}', '${oldestBeside}')`,
  );
}

/** Starts the built server under the version of the later release. */
export async function startLaterRelease(env: Record<string, string>): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), "stile later "));
  for (const name of read) symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  const file = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...file, version: laterRelease.version }));
  const server = await startServer({ env, program: { folder, parameters: ["dist/bundle/main.js"] } });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
