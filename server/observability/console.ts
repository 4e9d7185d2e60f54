import { format, stripVTControlCharacters } from "node:util";
import type { Logger } from "pino";

const levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/**
 * Turns what libraries write to the console, Next above all, into lines of the log, so that standard output holds
 * nothing else. Errors are described as everywhere in the log; what else was written with them is left out.
 */
export function logConsole(log: Logger): void {
  for (const [method, level] of Object.entries(levels)) {
    Reflect.set(console, method, (...parameters: unknown[]) => {
      const err = parameters.find((parameter) => parameter instanceof Error);
      if (err) log[level]({ err }, "written to the console");
      else log[level](stripVTControlCharacters(format(...parameters)).trim());
    });
  }
}
