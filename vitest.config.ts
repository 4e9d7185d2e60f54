import { configDefaults, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["server/testing/postgres-cluster.ts"],
    setupFiles: ["server/testing/console.ts"],
    exclude: [...configDefaults.exclude, "e2e/**", "dist/**", ".next/**", "data/**"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 20_000,
  },
});
