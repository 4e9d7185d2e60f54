import { currentStamp } from "../../scripts/build-stamp.mjs";

/**
 * Vitest's global set-up: fails a run whose tests changed what the service is built from. `npm run packages`, a command
 * of the guides, would build the service again, and take it away from the browser tests that run beside. Only where no
 * person edits the sources during the run.
 */
export default function setup(): (() => void) | undefined {
  if (!process.env.CI) return;
  const before = currentStamp();
  return () => {
    if (currentStamp() === before) return;
    process.stderr.write(
      "A test changed a file among the sources, or left one there: see `git status --ignored`.\n",
    );
    // An error would keep the set-ups that follow from ending what they started.
    process.exitCode = 1;
  };
}
