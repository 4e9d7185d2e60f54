import { words } from "../_words.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Writes a duration with the precision that a reader needs: `340 ms`, `12.3 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(milliseconds: number | null): string {
  if (milliseconds === null) return words.none;
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < MINUTE) return `${(milliseconds / SECOND).toFixed(1)} s`;
  if (milliseconds < HOUR) return inTwo(Math.round(milliseconds / SECOND), 60, "min", "s");
  if (milliseconds < 2 * DAY) return inTwo(Math.round(milliseconds / MINUTE), 60, "h", "min");
  return inTwo(Math.round(milliseconds / HOUR), 24, "d", "h");
}

function inTwo(total: number, size: number, large: string, small: string): string {
  const rest = total % size;
  return `${Math.floor(total / size)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}
