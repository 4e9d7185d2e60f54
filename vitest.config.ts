import { availableParallelism } from "node:os";
import { configDefaults, defineConfig, type TestUserConfig } from "vitest/config";

const isolated = "**/*.isolated.test.{ts,tsx}";
const drawn = "**/*.test.tsx";

const common: TestUserConfig = {
  exclude: [...configDefaults.exclude, "e2e/**", "dist/**", ".next/**", "data/**"],
  // No test is measured by time: only a hang reaches these limits.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 }, requireAssertions: true },
};

/**
 * The name of a test file says in which project it runs:
 *
 * - `*.test.ts` shares its worker, and every module that is loaded there, with other files. Loading them again for each
 *   file would take longer than most files run. `server/testing/shared-worker.ts` undoes what a file leaves behind.
 * - `*.test.tsx` does the same, in a document of jsdom.
 * - `*.isolated.test.ts` and `*.isolated.test.tsx` have a worker of their own, because they replace a module
 *   (`vi.mock`) or what a process holds once. A test checks that no other file does.
 */
export default defineConfig({
  test: {
    globalSetup: ["server/testing/postgres-cluster.ts", "server/testing/unchanged-sources.ts"],
    teardownTimeout: 60_000,
    // Half of a worker's time is waiting for the database and for processes that it started.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      {
        test: {
          ...common,
          name: "server",
          include: ["**/*.test.ts"],
          exclude: [...(common.exclude ?? []), isolated],
          isolate: false,
          setupFiles: ["server/testing/console.ts", "server/testing/shared-worker.ts"],
        },
      },
      {
        test: {
          ...common,
          name: "components",
          include: [drawn],
          exclude: [...(common.exclude ?? []), isolated],
          isolate: false,
          environment: "jsdom",
          setupFiles: [
            "server/testing/console.ts",
            "server/testing/shared-worker.ts",
            "components/testing/browser.ts",
          ],
        },
      },
      {
        test: {
          ...common,
          name: "isolated",
          include: [isolated],
          setupFiles: ["server/testing/console.ts"],
        },
      },
    ],
  },
});
