import { positionOf } from "./log-position.ts";

/** What the primary says of itself when it is looked at. */
export interface PrimaryAnswer {
  /** As `positionText` returns it; null at a standby. */
  position: string | null;
  /** Which cluster it is: a standby has the same. */
  system: string;
  /** When the lease of this process ends, as text: a value that this process alone writes. */
  mark: string | null;
}

/** Time of which positions are kept, which is longer than any bound of the lag. */
const KEPT_MS = 120_000;

/** Renewals are some seconds apart, and a standby that is used is not much behind. */
const MAX_MARKS = 64;

/** What a process has seen of the log of writes of the primary. Times are those of `performance.now`. */
export class PrimaryLog {
  #branch = "";
  #system = "";
  #marks: string[] = [];
  /** The renewal that the primary had when it was seen first: it may have come from a former one. */
  #inherited: string | null = null;
  /** When each position was seen first, the oldest first. */
  #seen: { at: number; offset: bigint }[] = [];

  /** See `LogPosition`; empty before the first answer. */
  get branch(): string {
    return this.#branch;
  }

  get system(): string {
    return this.#system;
  }

  /**
   * Takes an answer of the primary.
   *
   * @returns whether it is another primary, or was started again, so that there is no mark of it yet
   */
  see({ position: text, system, mark }: PrimaryAnswer, now: number): boolean {
    const position = positionOf(text);
    if (!position) return false;
    const isNew = position.branch !== this.#branch || system !== this.#system;
    if (isNew) {
      this.#branch = position.branch;
      this.#system = system;
      this.#marks = [];
      this.#inherited = mark;
      this.#seen = [];
    } else if (mark !== null && mark !== this.#inherited && !this.#marks.includes(mark)) {
      this.#marks = [...this.#marks, mark].slice(-MAX_MARKS);
    }
    if (position.offset > (this.#seen.at(-1)?.offset ?? -1n))
      this.#seen.push({ at: now, offset: position.offset });
    // Of those that are too old the last one stays: an idle primary has it still.
    while (this.#seen[1] && now - this.#seen[1].at > KEPT_MS) this.#seen.shift();
    return isNew;
  }

  /** Whether a renewal was made at the primary of now: a standby that shows it follows this primary. */
  hasMade(mark: string | null): boolean {
    return mark !== null && this.#marks.includes(mark);
  }

  /**
   * How long ago the primary had what a standby lacks, in milliseconds; 0 if it lacks nothing that was seen. No time of a
   * commit is compared while positions tell: an idle primary has none.
   *
   * @param ageMs since the last commit that the standby has replayed, for one that is behind all that was seen
   */
  lagMs(replayed: bigint, ageMs: number | null, now: number): number {
    const missing = this.#seen.findIndex(({ offset }) => offset > replayed);
    if (missing === -1) return 0;
    const seenMs = now - (this.#seen[missing]?.at ?? now);
    return missing === 0 ? Math.max(seenMs, ageMs ?? 0) : seenMs;
  }
}
