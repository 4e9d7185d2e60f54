import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import { asMarkdown, judgementsOf, type Line, type Report } from "./report.ts";
import { tasks } from "./tasks.ts";

const figures = (perSecond: number): Figures => ({
  perSecond,
  p50: 10,
  p99: 20,
  cpu: 1,
  postgresCpu: 2,
  waits: 0,
  generator: 0.1,
});

const taskOf = (way: string) => {
  const found = tasks.find((task) => task.way === way);
  if (!found) throw new Error(`no task ${way}`);
  return found;
};

const line = (way: string, ours: number, more: Partial<Line> = {}): Line => ({
  task: taskOf(way),
  connections: 16,
  bare: figures(100),
  ours: figures(ours),
  ...more,
});

const report = (lines: Line[], changes: Partial<Report["process"]> = {}): Report => ({
  conditions: "somewhere",
  lines,
  process: { startMs: 900, firstStartMs: 5_000, idleMiB: 150, peakMiB: 300, ...changes },
});

const found = (given: Report) => judgementsOf(given).map(({ name, aim, reached }) => [name, aim, reached]);

describe("an aim", () => {
  test("is judged by the share of the other figure, at 16 connections alone", () => {
    const lines = [
      line("flowStart", 60),
      line("flowStart", 10, { connections: 128 }),
      line("sessionCheck", 59),
      line("passwordLogin", 90, { hashesPerSecond: 100 }),
    ];
    expect(found(report(lines))).toEqual([
      ["flow start", "≥ 0.6 × hand-made", true],
      ["session check", "≥ 0.6 × hand-made", false],
      ["password login", "≥ 0.85 × hash", true],
      ["start to first answer", "≤ 1200 ms", true],
      ["idle memory", "≤ 200 MiB", true],
    ]);
  });

  test("is neither reached nor short where the other side was not measured", () => {
    const lines = [line("passkeyLogin", 40), line("passkeyLogin", 160, { peer: figures(100) })];
    expect(found(report(lines)).slice(0, 4)).toEqual([
      ["passkey login", "≥ 0.5 × hand-made", false],
      ["passkey login", "≥ 1.5 × better-auth", null],
      ["passkey login", "≥ 0.5 × hand-made", true],
      ["passkey login", "≥ 1.5 × better-auth", true],
    ]);
  });

  test("of the process is an upper bound", () => {
    const slow = report([], { startMs: 1_300, idleMiB: 250 });
    expect(found(slow).map(([, , reached]) => reached)).toEqual([false, false]);
  });

  test("that is short is printed as such", () => {
    const text = asMarkdown(report([line("flowStart", 20, { statements: { bare: 1, ours: 2 } })]));
    expect(text).toMatch(/^\| flow start +\| ≥ 0\.6 × hand-made \| +0\.20 × \| \*\*short\*\* \|$/m);
    expect(text).toMatch(/^\| flow start \| +1 \| +2 \|$/m);
  });
});

test("the rate of several rounds is their median, and the processor time is over all of them", () => {
  const round = (done: number): Round => ({
    done,
    elapsedMs: 1_000,
    latencies: Array(done).fill(done),
    refusals: [],
    cpuMs: 30,
    postgresCpuMs: 60,
    generatorCpuMs: 100,
  });
  expect(figuresOf([round(1), round(7), round(2)])).toMatchObject({
    perSecond: 2,
    p50: 7,
    cpu: 9,
    postgresCpu: 18,
    generator: 0.1,
  });
});

test("the page of the figures has a place for the tables", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/performance.md"), "utf8");
  expect(page).toMatch(/<!-- bench -->\n[\s\S]*<!-- \/bench -->/);
});
