import type { IgnoredEntry } from "./within-bounds.ts";

/** An invalid configuration. `message` is one line that names the setting at fault. */
export class ConfigError extends Error {
  /** The entries that are not used, beside the one at fault. */
  readonly ignored: readonly IgnoredEntry[];
  constructor(message: string, ignored: readonly IgnoredEntry[] = []) {
    super(message);
    this.ignored = ignored;
  }
}

/** The server cannot start, for a reason that its operator can mend. `message` is one line. */
export class StartError extends Error {}
