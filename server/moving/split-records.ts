import { isUtf8 } from "node:buffer";

/** Splits a file into the texts of its records, in bounded memory. */

/** How the records of a file follow each other. */
export type Layout =
  /** One JSON value a line. */
  | "lines"
  /** One JSON array, or an object whose first member is an array: records are its elements. */
  | "elements"
  /** Comma-separated values (RFC 4180): records are rows, the first of which names the columns. */
  | "csv";

export interface RawRecord {
  /** The line that the record starts in, counted from 1. */
  line: number;
  /** Null if the record is longer than `MAX_RECORD_BYTES`, or not UTF-8. */
  text: string | null;
}

/** A record is rejected beyond this length. The greatest valid user needs about a tenth of it. */
export const MAX_RECORD_BYTES = 1_048_576;

/** What a byte means: between records, part of one, its last byte, or the end of the record before this byte. */
const BETWEEN = 0;
const WITHIN = 1;
const LAST = 2;
const AFTER = 3;

interface Scanner {
  next(byte: number): number;
  /** Whether the input may end here. */
  isComplete(): boolean;
}

/** The input ended within its array or a quoted value, so that records may be missing. */
export class IncompleteInputError extends Error {}

/**
 * Yields the records of a byte stream, those of each chunk together.
 *
 * @throws IncompleteInputError after the last record, if the input ends too early
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  layout: Layout,
): AsyncGenerator<RawRecord[]> {
  const scanner = scanners[layout]();
  let line = 1;
  let startLine = 1;
  /** Parts of a record that started in an earlier chunk, and their length. */
  let parts: Buffer[] = [];
  let length = 0;
  let started = false;

  const keep = (part: Buffer) => {
    length += part.length;
    // Of a record that is too long only the length is kept.
    if (length > MAX_RECORD_BYTES) parts = [];
    else parts.push(part);
  };
  const finish = (part: Buffer): RawRecord => {
    keep(part);
    const text = length > MAX_RECORD_BYTES ? null : decode(parts.length === 1 ? part : Buffer.concat(parts));
    parts = [];
    length = 0;
    started = false;
    return { line: startLine, text };
  };

  for await (const chunk of chunks) {
    const found: RawRecord[] = [];
    let start = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      const meaning = scanner.next(byte);
      if ((meaning === WITHIN || meaning === LAST) && !started) {
        started = true;
        start = index;
        startLine = line;
      }
      if (meaning === LAST) found.push(finish(chunk.subarray(start, index + 1)));
      else if (meaning === AFTER && started) found.push(finish(chunk.subarray(start, index)));
      if (byte === NEWLINE) line += 1;
    }
    if (started) keep(Buffer.from(chunk.subarray(start)));
    if (found.length > 0) yield found;
  }
  if (started) yield [finish(Buffer.alloc(0))];
  if (!scanner.isComplete()) throw new IncompleteInputError();
}

function decode(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const COMMA = 0x2c;

const scanners: Record<Layout, () => Scanner> = {
  lines: () => ({
    next: (byte) => (byte === NEWLINE ? AFTER : WITHIN),
    isComplete: () => true,
  }),

  csv() {
    let quoted = false;
    return {
      next(byte) {
        // A quote within a quoted value is doubled, so it leaves the value and enters it again.
        if (byte === QUOTE) quoted = !quoted;
        return byte === NEWLINE && !quoted ? AFTER : WITHIN;
      },
      isComplete: () => !quoted,
    };
  },

  elements() {
    let isOpen = false;
    let isClosed = false;
    let depth = 0;
    let quoted = false;
    let escaped = false;

    /** Follows strings and nesting within an element. */
    const nested = (byte: number) => {
      if (quoted) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) quoted = false;
      } else if (byte === QUOTE) quoted = true;
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
    };
    return {
      next(byte) {
        if (isClosed) return BETWEEN;
        if (!isOpen) {
          isOpen = byte === OPENING_BRACKET;
          return BETWEEN;
        }
        if (depth === 0 && !quoted) {
          if (byte === CLOSING_BRACKET) {
            isClosed = true;
            return AFTER;
          }
          if (byte === COMMA) return AFTER;
          if (byte <= 0x20) return BETWEEN;
        }
        const before = depth;
        nested(byte);
        return before > 0 && depth === 0 && !quoted ? LAST : WITHIN;
      },
      isComplete: () => isClosed,
    };
  },
};

/** Parses one row of comma-separated values (RFC 4180); null if a quoted value is followed by anything but a comma. */
export function parseCsvRow(row: string): string[] | null {
  const values: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  const text = row.replace(/\r$/, "");
  for (;;) {
    const found = pattern.exec(text);
    if (!found) return null;
    values.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === "") return values;
  }
}
