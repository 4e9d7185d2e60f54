import { afterAll, expect, vi } from "vitest";

/** Set-up of every test file that shares its worker: asserts that the file restores the process state. */
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
