import type { FullResult, Reporter, TestCase, TestResult, TestStep } from "@playwright/test/reporter";

/** Fails a run in which a test passed without an assertion, as `requireAssertions` does in Vitest. */
export default class RequireAssertions implements Reporter {
  readonly #without: string[] = [];

  onTestEnd(test: TestCase, { status, steps }: TestResult): void {
    if (status === "passed" && !steps.some(asserts))
      this.#without.push(test.titlePath().filter(Boolean).join(" › "));
  }

  async onEnd(): Promise<{ status: FullResult["status"] } | undefined> {
    if (this.#without.length === 0) return undefined;
    process.stderr.write(`Passed without an assertion:\n${this.#without.join("\n")}\n`);
    return { status: "failed" };
  }

  printsToStdio(): boolean {
    return false;
  }
}

/** Whether a step asserts something. What hooks and fixtures assert, every test of a file shares. */
function asserts({ category, steps }: TestStep): boolean {
  return category === "expect" || (category !== "hook" && category !== "fixture" && steps.some(asserts));
}
