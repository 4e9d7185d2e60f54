import { randomBytes } from "node:crypto";
import { z } from "zod";
import { BackupError } from "./backup-error.ts";
import { ByteReader } from "./byte-reader.ts";
import { type CopiedSequence, type CopiedTable, copiedSchemas, shown } from "./copied-tables.ts";
import { encryptionFor, frameWriter, isKeyOf, MAX_CONTENT_BYTES, readFrames } from "./frames.ts";
import { areEqual, RowDigest, type TableSummary } from "./row-digest.ts";

/** The file of a backup (decision 94): a head, frames with the rows of each table, and a last frame with their summaries. */

const MAGIC = Buffer.from("STILE-BACKUP");

const FORMAT = 1;

const MAX_HEADER_BYTES = 1_048_576;

const SALT_BYTES = 32;

/** The first byte of a frame's content. */
const ROWS = 1;
const CLOSING = 2;

const headerSchema = z.object({
  /** Version of Stile that made the file. */
  stile: z.string(),
  /** Last migration of the database. */
  migration: z.object({ name: z.string(), time: z.int() }),
  created_at: z.iso.datetime(),
  tables: z.array(
    z.object({
      schema: z.enum(copiedSchemas as [string, ...string[]]),
      name: z.string().min(1),
      columns: z.array(z.string().min(1)).min(1),
    }),
  ),
  encryption: z.object({ salt: z.string(), key_check: z.string() }).nullable(),
});

const closingSchema = z.object({
  tables: z.array(z.object({ rows: z.int().min(0), digest: z.string() })),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string(), is_called: z.boolean() })),
});

export type Header = z.infer<typeof headerSchema>;

/** What the last frame says: the summary of each table, in the order of the header. */
export interface Closing {
  tables: TableSummary[];
  sequences: CopiedSequence[];
}

/** A table of a file, with its rows, which have to be read before the next table. */
export interface TableInFile {
  table: CopiedTable;
  rows: AsyncIterable<Buffer>;
}

/** Content of a frame: its kind, the number of its table, and rows. */
const ROWS_HEAD_BYTES = 3;

/**
 * Writes a backup.
 *
 * @param write takes the bytes in their order
 * @param key encrypts the file
 */
export async function writeBackupFile(
  write: (bytes: Buffer) => Promise<void>,
  header: Omit<Header, "encryption">,
  key: string | undefined,
) {
  const encryption = key === undefined ? null : encryptionFor(key, randomBytes(SALT_BYTES));
  const json = Buffer.from(JSON.stringify({ ...header, encryption } satisfies Header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  const head = Buffer.concat([MAGIC, Buffer.of(FORMAT), length, json]);
  const frame = frameWriter(head, encryption, key);
  await write(head);
  const summaries: TableSummary[] = [];
  return {
    /** Writes the rows of the next table. Returns their number. */
    async table(rows: AsyncIterable<Buffer>): Promise<TableSummary> {
      const digest = new RowDigest();
      let parts: Buffer[] = [];
      let bytes = 0;
      const flush = async () => {
        if (bytes === 0) return;
        const lead = Buffer.of(ROWS, 0, 0);
        lead.writeUInt16BE(summaries.length, 1);
        await write(await frame(Buffer.concat([lead, ...parts]), false));
        parts = [];
        bytes = 0;
      };
      for await (const chunk of rows) {
        digest.update(chunk);
        let rest = chunk;
        while (rest.length > 0) {
          const part = rest.subarray(0, MAX_CONTENT_BYTES - ROWS_HEAD_BYTES - bytes);
          parts.push(part);
          bytes += part.length;
          rest = rest.subarray(part.length);
          if (bytes === MAX_CONTENT_BYTES - ROWS_HEAD_BYTES) await flush();
        }
      }
      await flush();
      const summary = digest.summary();
      summaries.push(summary);
      return summary;
    },
    /** Writes the last frame. */
    async close(sequences: CopiedSequence[]): Promise<Closing> {
      const closing = { tables: summaries, sequences };
      const content = Buffer.concat([Buffer.of(CLOSING), Buffer.from(JSON.stringify(closing))]);
      await write(await frame(content, true));
      return closing;
    },
  };
}

/**
 * Reads the head of a backup, and then its tables.
 *
 * @param key the one that it is encrypted with
 * @throws BackupError if it is no backup, is damaged or cut off, or the key is not that of the file
 */
export async function openBackupFile(stream: AsyncIterable<Buffer>, key: string | undefined) {
  const source = new ByteReader(stream);
  const lead = await source.read(MAGIC.length + 5);
  if (!lead.subarray(0, MAGIC.length).equals(MAGIC)) throw new BackupError("this is no backup of Stile");
  const format = lead[MAGIC.length];
  if (format !== FORMAT)
    throw new BackupError(
      `the backup has the format ${format}, and this version reads ${FORMAT}: restore it with a later version`,
    );
  const length = lead.readUInt32BE(MAGIC.length + 1);
  if (length > MAX_HEADER_BYTES) throw new BackupError("the file is damaged");
  const json = await source.read(length);
  const header = parsed(headerSchema, json);
  const { encryption, tables } = header;
  if (encryption === null && key !== undefined)
    throw new BackupError("the backup is not encrypted, although a key is given: it may not be yours");
  if (encryption !== null && key === undefined)
    throw new BackupError("the backup is encrypted: give its key by --key-file or STILE_BACKUP_KEY");
  if (encryption !== null && key !== undefined && !isKeyOf(encryption, key))
    throw new BackupError("the key is not that of the backup");
  const frames = readFrames(source, Buffer.concat([lead, json]), encryption, key);
  return { header, contents: contentsOf(frames, tables) };
}

/** Yields each table of a file, and then what its last frame says, which is compared with what was read. */
async function* contentsOf(
  frames: ReturnType<typeof readFrames>,
  tables: readonly CopiedTable[],
): AsyncGenerator<TableInFile, Closing> {
  let next = await frames.next();
  const read: TableSummary[] = [];
  for (const [index, table] of tables.entries()) {
    const digest = new RowDigest();
    async function* rows(): AsyncGenerator<Buffer> {
      for (;;) {
        const { content, isLast } = next.value ?? damaged();
        if (isLast || content[0] !== ROWS || content.readUInt16BE(1) !== index) return;
        const bytes = content.subarray(ROWS_HEAD_BYTES);
        digest.update(bytes);
        yield bytes;
        next = await frames.next();
      }
    }
    yield { table, rows: rows() };
    read.push(digest.summary());
  }
  const { content, isLast } = next.value ?? damaged();
  if (!isLast || content[0] !== CLOSING) damaged();
  const closing = parsed(closingSchema, content.subarray(1));
  for (const [index, table] of tables.entries()) {
    const [stated, found] = [closing.tables[index], read[index]];
    if (!stated || !found || !areEqual(stated, found))
      throw new BackupError(`the rows of ${shown(table)} are not those that the backup was made of`);
  }
  return closing;
}

function damaged(): never {
  throw new BackupError("the file is damaged");
}

function parsed<Schema extends z.ZodType>(schema: Schema, json: Buffer): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(json.toString()));
  } catch {
    return damaged();
  }
}

/** Reads a backup to its end, and returns what it holds. Throws as `openBackupFile` does. */
export async function checkBackup(
  stream: AsyncIterable<Buffer>,
  key: string | undefined,
  progress: (read: TableInFile["table"]) => void = () => {},
): Promise<{ header: Header; closing: Closing }> {
  const { header, contents } = await openBackupFile(stream, key);
  for (;;) {
    const { done, value } = await contents.next();
    if (done) return { header, closing: value };
    progress(value.table);
    for await (const _ of value.rows);
  }
}
