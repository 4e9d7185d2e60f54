import { format, stripVTControlCharacters } from "node:util";
import type { Logger } from "pino";

const levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/**
 * Redirects the console, which libraries such as Next write to, to the log, so that standard output contains only log
 * lines. An error is logged with its description, without the other arguments of the call.
 */
export function logConsole(log: Logger): void {
  for (const [method, level] of Object.entries(levels)) {
    Reflect.set(console, method, (...parameters: unknown[]) => {
      const err = parameters.find((parameter) => parameter instanceof Error);
      if (err) log[level]({ err }, "error on the console");
      else log[level](stripVTControlCharacters(format(...parameters)).trim());
    });
  }
}
