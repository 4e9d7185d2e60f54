/** The server cannot start, for a reason that its operator can mend. `message` is the one line that is printed. */
export class StartError extends Error {}
