import { format } from "node:util";
import { afterEach, beforeEach, type MockInstance, vi } from "vitest";

/** Vitest's set-up of every file: what is written to the console as an error or a warning fails the test. */
const complaints: string[] = [];
let spies: MockInstance[] = [];

beforeEach(() => {
  complaints.length = 0;
  spies = (["error", "warn"] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation((...parameters) => {
      complaints.push(`console.${method}: ${format(...parameters)}`);
    }),
  );
});

afterEach(() => {
  for (const spy of spies) spy.mockRestore();
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
});
