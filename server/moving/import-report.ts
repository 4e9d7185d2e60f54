import { type FileHandle, open } from "node:fs/promises";

/** A refused record. */
export interface Refusal {
  line: number;
  /** Contains no data of the record. */
  reason: string;
}

/** Receives refused records, exactly once each, although an import may be interrupted between any two statements. */
export interface ImportReport {
  /** Writes the refusals of a batch that is about to be committed, and returns the length of the report with them. */
  stage(refusals: readonly Refusal[]): Promise<number>;
  /** The batch was committed. */
  accept(refusals: readonly Refusal[]): void;
  /** Continues after the refusals that were committed before. */
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
      await file.truncate(accepted);
      const { bytesWritten } = await file.write(Buffer.from(text), 0, null, accepted);
      await file.datasync();
      staged = accepted + bytesWritten;
      return staged;
    },
    accept: () => {
      accepted = staged;
    },
    resume: async (length) => {
      accepted = length;
    },
    close: () => file.close(),
  };
}
