import type { Fault } from "./fault.ts";

/**
 * Plants a fault in the source of its file.
 *
 * @throws Error if the text of the fault is not in the source exactly once: the list needs an update
 */
export function plant({ name, file, text, fault }: Fault, source: string): string {
  const places = source.split(text).length - 1;
  if (places !== 1) throw new Error(`${file} holds the text of "${name}" ${places} times, not once`);
  return source.replace(text, () => fault);
}
