import type { Runtime } from "./runtime.ts";

/**
 * The runtime of this process, on `globalThis` under a symbol that is the same in every copy of this module: Next bundles
 * its own copy of each module, so module state would not be shared.
 */
const slot = Symbol.for("stile.runtime");

const holder = globalThis as { [slot]?: Runtime };

/** Sets the runtime of this process. */
export function holdRuntime(runtime: Runtime): void {
  holder[slot] = runtime;
}

/** Returns the runtime of this process, or undefined before it has started. */
export function heldRuntime(): Runtime | undefined {
  return holder[slot];
}

/**
 * Returns the runtime of this process.
 *
 * @throws Error if the runtime has not started
 */
export function currentRuntime(): Runtime {
  const runtime = holder[slot];
  if (!runtime) throw new Error("the runtime has not started");
  return runtime;
}
