import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEnvironment } from "../../scripts/test-programs.ts";

/** A clock for programs that differs from the clock of the machine, by Debian's `faketime`. */
export interface ShiftedClock {
  /** The environment of a program that goes by it. Its monotonic clock stays right, as when the time of a machine is set. */
  env: Record<string, string>;
  /** Sets it, also for programs that run, within a second. */
  set(hoursAhead: number): void;
  remove(): void;
}

/** Makes a clock that is right until it is set. */
export function shiftedClock(): ShiftedClock {
  const folder = mkdtempSync(join(tmpdir(), "stile-clock-"));
  // Programs that run under another account read it, too.
  chmodSync(folder, 0o755);
  const file = join(folder, "clock");
  const set = (hoursAhead: number) =>
    writeFileSync(file, `${hoursAhead < 0 ? "-" : "+"}${Math.abs(hoursAhead)}h`);
  set(0);
  // The program sets this variable for the one that it runs, and has no other way to tell the library's path.
  const library = execFileSync("faketime", ["-f", "+0", "printenv", "LD_PRELOAD"], {
    encoding: "utf8",
    env: programEnvironment,
  });
  return {
    env: {
      LD_PRELOAD: library.trim(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
