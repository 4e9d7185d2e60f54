import { format } from "node:util";
import { afterEach, beforeEach, type MockInstance, vi } from "vitest";

/** Vitest set-up of every file: a test fails if it writes errors or warnings to the console. */
const messages: string[] = [];
let spies: MockInstance[] = [];

beforeEach(() => {
  messages.length = 0;
  spies = (["error", "warn"] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((...parameters) => {
      messages.push(`console.${method}: ${format(...parameters)}`);
    }),
  );
});

afterEach(() => {
  for (const spy of spies) spy.mockRestore();
  if (messages.length > 0) throw new Error(messages.join("\n"));
});
