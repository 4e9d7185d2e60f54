/** An invalid configuration. `message` is one line that names the setting at fault. */
export class ConfigError extends Error {}

/** The server cannot start, for a reason that its operator can mend. `message` is one line. */
export class StartError extends Error {}
