import { describe, vi } from "vitest";

// The forms of parts for a distributed database are statements of PostgreSQL, so that one PostgreSQL takes them, too.
vi.mock("#db/distribution", () => ({
  isDistributed: async () => true,
  isDistributedTransaction: async () => true,
  entersAtWorker: async () => false,
  beginsIn: () => {},
}));

describe("in the form for a distributed database", () => {
  describe("failures are counted as in another one", async () => {
    await import("../limits/failure-counters.test.ts");
  });
  describe("limits are charged as in another one", async () => {
    await import("../limits/rate-limits.test.ts");
  });
  describe("entries of the audit log are written as in another one", async () => {
    await import("../audit/audit.test.ts");
  });
  describe("events are written as in another one", async () => {
    await import("../events/emit.test.ts");
  });
  describe("failed sign-ins are refused and recorded as in another one", async () => {
    await import("../flow/scenarios/failed-sign-ins.test.ts");
    await import("../flow/scenarios/totp-lockout.test.ts");
  });
  describe("budgets of steps are charged as in another one", async () => {
    await import("../http/flow/steps-without-end.test.ts");
  });
  describe("outcomes of deliveries are written as in another one", async () => {
    await import("../webhooks/results.test.ts");
  });
});
