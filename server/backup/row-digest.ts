import { createHash, type Hash } from "node:crypto";
import { sha256 } from "../lib/sha256.ts";
import { BackupError } from "./backup-error.ts";

/** What a table holds: two tables with the same rows have the same summary, in whatever order the rows are. */
export interface TableSummary {
  rows: number;
  /** Sum of the SHA-256 of each row, modulo 2^256, in hexadecimal. */
  digest: string;
}

export const areEqual = (one: TableSummary, other: TableSummary): boolean =>
  one.rows === other.rows && one.digest === other.digest;

const LIMBS = 8;
const LIMB = 2 ** 32;

/** Sums of 32-bit numbers stay exact in a double up to 2^21 of them. */
const MAX_SUMMED = 2 ** 20;

const NEWLINE = 10;

/** Summarizes the rows of a table as PostgreSQL copies them in its text form: a line each (PostgreSQL manual, COPY). */
export class RowDigest {
  #rows = 0;
  /** From the least significant limb. */
  readonly #sums = new Float64Array(LIMBS);
  /** The row that the bytes so far end in; null at the beginning of a row. */
  #open: Hash | null = null;

  /** Adds the next bytes, cut anywhere. */
  update(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const rest = bytes.subarray(start, end);
      this.#add(this.#open ? this.#open.update(rest).digest() : sha256(rest));
      this.#open = null;
      start = end + 1;
    }
    if (start === bytes.length) return;
    this.#open ??= createHash("sha256");
    this.#open.update(bytes.subarray(start));
  }

  /** Whole rows so far. */
  get rows(): number {
    return this.#rows;
  }

  /** @throws BackupError if the bytes end within a row */
  summary(): TableSummary {
    if (this.#open) throw new BackupError("the rows end within a row");
    this.#carry();
    const limbs = [...this.#sums].toReversed();
    return { rows: this.#rows, digest: limbs.map((limb) => limb.toString(16).padStart(8, "0")).join("") };
  }

  #add(digest: Buffer): void {
    for (let limb = 0; limb < LIMBS; limb += 1)
      this.#sums[limb] = (this.#sums[limb] ?? 0) + digest.readUInt32BE(4 * (LIMBS - 1 - limb));
    this.#rows += 1;
    if (this.#rows % MAX_SUMMED === 0) this.#carry();
  }

  #carry(): void {
    let carried = 0;
    for (let limb = 0; limb < LIMBS; limb += 1) {
      const sum = (this.#sums[limb] ?? 0) + carried;
      carried = Math.floor(sum / LIMB);
      this.#sums[limb] = sum % LIMB;
    }
  }
}
