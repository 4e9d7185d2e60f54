import { type FileHandle, open } from "node:fs/promises";
import type { Transaction } from "#db/client";
import { ImportError } from "./import-error.ts";

/** A refused record. */
export interface Refusal {
  /** The line that it starts in, counted from 1. */
  line: number;
  /** Its number among the records, counted from 1. */
  record: number;
  /** The id that it has at its source, if it has one. */
  id?: string;
  /** Contains no data of the record. */
  reason: string;
}

/** The position of a refused record, for people: `line 1, record 7 (auth0|5f7c)`. */
export function positionOf({ line, record, id }: Refusal): string {
  return `line ${line}${record === line ? "" : `, record ${record}`}${id === undefined ? "" : ` (${id})`}`;
}

/** Receives refused records, exactly once each, although an import may be interrupted between any two statements. */
export interface ImportReport {
  /**
   * Writes the refusals of a batch that is about to be committed, and returns the length of the report with them.
   *
   * @param tx the transaction of the batch; null if none is written
   */
  stage(refusals: readonly Refusal[], tx: Transaction | null): Promise<number>;
  /** The batch was committed. */
  accept(refusals: readonly Refusal[]): void;
  /**
   * Continues after the refusals that were committed before.
   *
   * @throws ImportError if the report does not contain them
   */
  resume(length: number): Promise<void>;
  close(): Promise<void>;
}

/** Reports each refusal by a call, once it is committed. */
export function reportTo(print: (refusal: Refusal) => void): ImportReport {
  return {
    stage: async () => 0,
    accept: (refusals) => refusals.forEach(print),
    resume: async () => {},
    close: async () => {},
  };
}

/**
 * Reports refusals in a file, as lines of JSON.
 *
 * @throws the error of the file system if the file cannot be written
 */
export async function reportInFile(path: string): Promise<ImportReport> {
  // Opened without truncating it: a resumed import keeps the refusals before.
  const file: FileHandle = await open(path, "a").then(async (created) => {
    await created.close();
    return open(path, "r+");
  });
  let accepted = 0;
  let staged = 0;
  return {
    async stage(refusals) {
      const text = refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join("");
      const bytes = Buffer.from(text);
      try {
        await file.truncate(accepted);
        for (let from = 0; from < bytes.length; )
          from += (await file.write(bytes, from, bytes.length - from, accepted + from)).bytesWritten;
        await file.datasync();
      } catch (error) {
        throw new ImportError(`the report cannot be written: ${(error as NodeJS.ErrnoException).code}`);
      }
      staged = accepted + bytes.length;
      return staged;
    },
    accept: () => {
      accepted = staged;
    },
    async resume(length) {
      const { size } = await file.stat();
      if (size < length)
        throw new ImportError("the report is not that of the interrupted import: it is shorter");
      await file.truncate(length);
      accepted = length;
    },
    close: () => file.close(),
  };
}
