import { afterAll, expect, vi } from "vitest";

/** Set-up of every file that shares its worker with others: the file leaves the process as it found it. */
const environment = { ...process.env };
const folder = process.cwd();

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  expect(process.env).toEqual(environment);
  expect(process.cwd()).toBe(folder);
});
