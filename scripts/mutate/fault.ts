/** A fault to plant, and the tests that have to fail with it. */
export interface Fault {
  /** What the service does wrong with it. */
  name: string;
  /** The only place of `text` in `file` becomes `fault`. */
  file: string;
  text: string;
  fault: string;
  /** Test files, which need no build. */
  caughtBy: readonly [string, ...string[]];
}
