/** A backup cannot be made, read or restored, for a reason that its operator can mend. `message` is one line. */
export class BackupError extends Error {
  override name = "BackupError";
}
