import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { checkBackup } from "../../backup/backup-file.ts";
import { shown } from "../../backup/copied-tables.ts";
import { makeBackup, type Progress } from "../../backup/make-backup.ts";
import { moveDatabase, undoMove } from "../../backup/move.ts";
import { restoreBackup, restoreTables } from "../../backup/restore.ts";
import { scratchOwner, withScratchDatabase } from "../../backup/scratch-database.ts";
import { MIN_BACKUP_KEY_CHARACTERS } from "../../config/sections/leaves.ts";
import { locateDatabase } from "../../database/locate.ts";
import { type Cli, CommandError, command, UsageError } from "../command.ts";
import { cannotBe, readBounded, writeWholeFile } from "../files.ts";
import { progressLine } from "../progress.ts";

const keyFile = {
  description:
    "File with the key of the backup. Default: STILE_BACKUP_KEY; without either it is not encrypted.",
  value: "file",
} as const;

const MAX_KEY_BYTES = 65_536;

/** @throws CommandError if the key is too short to be one */
async function keyOf(cli: Cli, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return cli.config().backup.key;
  const key = (await readBounded(file, MAX_KEY_BYTES)).trim();
  if (key.length < MIN_BACKUP_KEY_CHARACTERS)
    throw new CommandError(`the key in ${file} has fewer than ${MIN_BACKUP_KEY_CHARACTERS} characters`);
  return key;
}

/** Shows tables in the line of progress. */
function tablesIn(cli: Cli, verb: string): { progress: Progress; end(): void } {
  const show = progressLine(cli);
  return {
    progress: (table, index, count) => show(`${verb} ${index + 1}/${count} ${shown(table)}`),
    end: () => show(null),
  };
}

const summaryOf = (rows: number, tables: number) => `${rows} rows of ${tables} tables`;

export const backup = command({
  name: "backup",
  summary: "Write the whole database to a new file, while servers run.",
  details: [
    "The file has what the database held at one moment, jobs included, and - is standard output. Nothing is migrated: use the",
    "version whose servers run. It contains password hashes and personal data: encrypt it with a key of its own, for",
    "instance from `openssl rand -base64 32`. Secrets in the database are sealed by SECRET_KEYS, which the file does not",
    "have: keep these and the key of the backup elsewhere. Without either a restored database is of little use.",
  ].join("\n"),
  takes: ["file"],
  options: {
    "key-file": keyFile,
    verify: {
      description:
        "Restore the file into a database that is made and dropped on the same server, and compare.",
    },
  },
  async run(cli, values, [file = ""]) {
    const isStream = file === "-";
    if (isStream && values.verify) throw new UsageError("--verify needs a file");
    const key = await keyOf(cli, values["key-file"]);
    const signal = cli.interruption();
    await cli.withDatabase(async ({ hosts: { url }, adminUrl }) => {
      // A backup of hours is not made if it could not be verified.
      if (values.verify) await scratchOwner({ url, adminUrl });
      const { progress, end } = tablesIn(cli, "writing");
      const make = (write: (bytes: Buffer) => Promise<void>) =>
        makeBackup(url, write, { key, progress, signal }).finally(end);
      if (isStream) {
        await make(cli.write);
        return;
      }
      const { tables } = await writeWholeFile(file, make);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      await cli.print(`${summaryOf(rows, tables.length)} written`);
      if (!values.verify) return;
      const verifying = tablesIn(cli, "verifying");
      await withScratchDatabase({ url, adminUrl }, (scratch) =>
        restoreTables(scratch, streamOf(file), { key, progress: verifying.progress }),
      ).finally(verifying.end);
      await cli.print("verified: a restored database has the same rows");
    });
  },
});

export const restore = command({
  name: "restore",
  summary: "Write a backup into an empty database, and migrate it to this version.",
  details: [
    "A file is read to its end before anything is written; - is standard input. The database has to be empty: a new",
    "DATABASE_URL, or a new DATA_DIR. If anything fails, it is empty again. SECRET_KEYS have to be those of the servers",
    "whose database it was.",
  ].join("\n"),
  takes: ["file"],
  options: {
    "key-file": keyFile,
    check: { description: "Read the file to its end, say what it is, and use no database." },
  },
  async run(cli, values, [file = ""]) {
    const key = await keyOf(cli, values["key-file"]);
    const isStream = file === "-";
    if (!isStream || values.check) {
      const { header, closing } = await checked(cli, file, key);
      if (values.check) {
        const rows = closing.tables.reduce((sum, table) => sum + table.rows, 0);
        const { stile, created_at, encryption } = header;
        await cli.print(
          `intact: ${summaryOf(rows, closing.tables.length)}, of ${created_at}, by version ${stile}, ${encryption ? "encrypted" : "not encrypted"}`,
        );
        return;
      }
    } else cli.printError("standard input is checked while it is restored: a damaged backup is found late");
    const config = cli.config();
    await cli.withDatabase(async ({ hosts: { url } }) => {
      const { progress, end } = tablesIn(cli, "restoring");
      const tenant = { id: config.tenant.id, name: config.service.name };
      const stream = isStream ? bytesOf(cli.input) : streamOf(file);
      const rows = await restoreBackup(url, stream, tenant, { key, progress }).finally(end);
      await cli.print(`${rows} rows restored`);
    });
  },
});

export const move = command({
  name: "move",
  summary: "Copy the database into an empty one of another PostgreSQL, and use that from then on.",
  details: [
    "For the way from the embedded database to a server. No server may run. Each table is copied and compared; after an",
    "interruption, run it again: it goes on where it stopped. From its beginning on no server starts on either database until",
    "it is complete, and then none on the former one, which stays as it is. Set DATABASE_URL afterwards. PGPASSWORD holds the",
    "password of the new database where its address has none.",
  ].join("\n"),
  options: {
    to: { description: "Address of an empty database of PostgreSQL 15 or newer, postgres://…", value: "url" },
    undo: { description: "Use the former database again, and not the other one." },
  },
  async run(cli, { to, undo }) {
    if (undo === (to !== undefined)) throw new UsageError("expected either --to or --undo");
    const config = cli.config();
    if (to === undefined) {
      await cli.withDatabase(({ hosts: { url } }) => undoMove(url));
      await cli.print("OK");
      return;
    }
    if (!/^postgres(ql)?:\/\//.test(to)) throw new UsageError("--to is not a postgres:// address");
    const signal = cli.interruption();
    const targetName = nameOfDatabase(to);
    await cli.withDatabase(async ({ hosts: { url } }) => {
      const target = await locateDatabase(to);
      const { progress, end } = tablesIn(cli, "moving");
      const tenant = { id: config.tenant.id, name: config.service.name };
      const tables = await moveDatabase(url, target.url, { tenant, targetName, progress, signal }).finally(
        end,
      );
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      await cli.print(`${summaryOf(rows, tables.length)} moved and compared`);
    });
    await cli.print(
      `set DATABASE_URL to the address of ${targetName}, and start the servers; SECRET_KEYS stay`,
    );
    await cli.print("OK");
  },
});

/** Names a database for people: its hosts and its name, without role and password. */
const nameOfDatabase = (url: string) => url.replace(/^[a-z]+:\/\/(?:[^/?#]*@)?/, "").replace(/[?#].*$/s, "");

async function checked(cli: Cli, file: string, key: string | undefined) {
  const show = progressLine(cli);
  if (file !== "-") {
    const found = await stat(file).catch(cannotBe("read", file));
    if (!found.isFile()) throw new CommandError(`${file} is not a file`);
  }
  const stream = file === "-" ? bytesOf(cli.input) : streamOf(file);
  return checkBackup(stream, key, (table) => show(`reading ${shown(table)}`)).finally(() => show(null));
}

const CHUNK_BYTES = 1_048_576;

const streamOf = (file: string): AsyncIterable<Buffer> =>
  createReadStream(file, { highWaterMark: CHUNK_BYTES });

async function* bytesOf(input: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  for await (const chunk of input) yield Buffer.from(chunk as Uint8Array);
}
