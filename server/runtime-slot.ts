import type { Runtime } from "./runtime.ts";

/**
 * The one runtime of this process. Next bundles a copy of its own of every module, so what is made once cannot be
 * found through a module; it rests on `globalThis`, under a name that all copies share.
 */
const slot = Symbol.for("stile.runtime");

const holder = globalThis as { [slot]?: Runtime };

/** Keeps the runtime for whoever serves a request in this process. */
export function holdRuntime(runtime: Runtime): void {
  holder[slot] = runtime;
}

/** The runtime of this process, if it has started. */
export function heldRuntime(): Runtime | undefined {
  return holder[slot];
}

/**
 * The runtime of this process.
 *
 * @throws Error when a request comes before the start has ended
 */
export function currentRuntime(): Runtime {
  const runtime = holder[slot];
  if (!runtime) throw new Error("the runtime has not started");
  return runtime;
}
