import { expect, test } from "./fixtures.ts";
import { weighPage } from "./page-measurement.ts";

/** Kilobytes that a browser may receive for the sign-in page, compressed: docs/performance.md. */
const BUDGET_KB = { document: 15, scripts: 102, total: 120 };

test("the sign-in page stays within its budget", async ({ page }) => {
  const weight = await weighPage(page, "/");
  for (const [part, kilobytes] of Object.entries(BUDGET_KB))
    expect(weight[part as keyof typeof BUDGET_KB] / 1000, part).toBeLessThan(kilobytes);
});
