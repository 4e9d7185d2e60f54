import { createHash } from "node:crypto";
import type { SourceRecord } from "./form.ts";
import { type FormName, recognizeForm } from "./forms/index.ts";
import { ImportError } from "./import-error.ts";
import {
  IncompleteInputError,
  type Layout,
  parseCsvRow,
  type RawRecord,
  splitRecords,
} from "./split-records.ts";
import { isObject, parseRecord } from "./user-record.ts";

/**
 * A record of the input, with its line and its number, both counted from 1: of a file in one line, only the number tells
 * records apart. `text` is null if it could not be read.
 */
export type SourceLine = { line: number; number: number; text: string | null } & (
  | { ok: true; record: SourceRecord }
  | { ok: false; reason: string }
);

/** An input whose form is known. */
export interface Source {
  form: FormName;
  /** Identifies the input by its beginning. */
  inputHash: Buffer;
  /** Yields the records, those of each part of the input together. May be called once. */
  lines(): AsyncGenerator<SourceLine[]>;
}

/** The beginning of an input, by which it is recognized. */
const HEAD_BYTES = 65_536;

/**
 * Recognizes layout and form of an input.
 *
 * @throws ImportError if the first record is of no known form
 */
export async function openSource(input: AsyncIterable<Buffer>, named: FormName | null): Promise<Source> {
  const chunks = input[Symbol.asyncIterator]();
  const head = await beginningOf(chunks);
  const inputHash = createHash("sha256").update(head.subarray(0, HEAD_BYTES)).digest();
  const records = readRecords(chain(head, chunks), layoutOf(head));
  const first = await records.next();
  const form = named ?? recognized(first.value ?? []);
  return {
    form,
    inputHash,
    async *lines() {
      if (first.value) yield first.value;
      yield* records;
    },
  };
}

/** Yields the records of an input of any layout. */
async function* readRecords(input: AsyncIterable<Buffer>, layout: Layout): AsyncGenerator<SourceLine[]> {
  let columns: string[] | null = null;
  let records = 0;
  const read = ({ line, text }: RawRecord): SourceLine[] => {
    const next = () => ({ line, number: ++records, text });
    if (text === null) return [{ ...next(), ok: false, reason: "longer than a megabyte, or not UTF-8" }];
    const bare = line === 1 ? text.replace(/^\uFEFF/, "") : text;
    if (bare.trim() === "") return [];
    if (layout !== "csv") return [{ ...next(), ...jsonRecord(bare) }];
    const row = parseCsvRow(bare);
    if (columns === null) {
      if (!row) throw new ImportError("the first line does not name the columns");
      columns = row;
      return [];
    }
    return [{ ...next(), ...csvRecord(columns, row) }];
  };
  try {
    for await (const part of splitRecords(input, layout)) {
      const lines = part.flatMap(read);
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    if (!(error instanceof IncompleteInputError)) throw error;
    throw new ImportError("the input ends within its last record or its list: it may be incomplete");
  }
}

/** Reads a whole input whose layout is not known. */
export async function* readAnyRecords(input: AsyncIterable<Buffer>): AsyncGenerator<SourceLine[]> {
  const chunks = input[Symbol.asyncIterator]();
  const head = await beginningOf(chunks);
  yield* readRecords(chain(head, chunks), layoutOf(head));
}

type Read = { ok: true; record: SourceRecord } | { ok: false; reason: string };

function jsonRecord(text: string): Read {
  let record: unknown;
  try {
    record = parseRecord(text);
  } catch (error) {
    return { ok: false, reason: error instanceof RangeError ? "nested too deeply" : "not JSON" };
  }
  return isObject(record) ? { ok: true, record } : { ok: false, reason: "not a JSON object" };
}

function csvRecord(columns: readonly string[], row: readonly string[] | null): Read {
  if (!row) return { ok: false, reason: "not comma-separated values" };
  if (row.length !== columns.length)
    return { ok: false, reason: "has another number of values than there are columns" };
  return { ok: true, record: Object.fromEntries(columns.map((column, index) => [column, row[index]])) };
}

function recognized(lines: readonly SourceLine[]): FormName {
  const first = lines.find((line) => line.ok);
  const form = first?.ok ? recognizeForm(first.record) : null;
  // An empty input imports nothing, in any form.
  if (form === null && lines.length > 0)
    throw new ImportError("the form of the first record is not known: name it with --format");
  return form ?? "stile";
}

function layoutOf(head: Buffer): Layout {
  const text = head
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (text.startsWith("[") || /^\{\s*"users"\s*:\s*\[/.test(text)) return "elements";
  return text.startsWith("{") || text === "" ? "lines" : "csv";
}

async function beginningOf(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let length = 0; length < HEAD_BYTES; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    const part = Buffer.from(value);
    parts.push(part);
    length += part.length;
  }
  return Buffer.concat(parts);
}

async function* chain(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return;
    yield Buffer.from(value);
  }
}
