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

const taskOf = (way: string, walk = "page") => {
  const found = tasks.find((task) => task.way === way && task.walk === walk);
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

const report = (
  lines: Line[],
  { growth = [], ...changes }: Partial<Report["process"]> & Partial<Pick<Report, "growth">> = {},
): Report => ({
  conditions: "somewhere",
  processors: 2,
  lines,
  growth,
  process: { startMs: 900, firstStartMs: 5_000, idleMiB: 150, peakMiB: 300, ...changes },
});

const found = (given: Report) => judgementsOf(given).map(({ name, aim, reached }) => [name, aim, reached]);

describe("an aim", () => {
  test("is judged by the share of the other figure, at 16 connections alone", () => {
    const lines = [
      line("flowStart", 75),
      line("flowStart", 10, { connections: 128 }),
      line("cheapStep", 74),
      line("passwordLogin", 90, { hashesPerSecond: 100 }),
    ];
    expect(found(report(lines))).toEqual([
      ["flow start", "≥ 0.75 × hand-made", true],
      ["cheap step", "≥ 0.75 × hand-made", false],
      ["password login, as our page", "≥ 0.75 × hand-made", true],
      ["password login, as our page", "≥ 0.85 × hash", true],
      ["password login, as our page", "≥ 0.8 more a worker", null],
      ["start to first answer", "≤ 1200 ms", true],
      ["idle memory", "≤ 200 MiB", true],
    ]);
  });

  test("compares codes with the better-auth that mails, and is neither reached nor short without it", () => {
    const task = taskOf("codeLogin", "clients");
    const sendsNone = line("codeLogin", 130, { task, peer: figures(10) });
    const name = "code login, mail delivered, as published clients";
    const aim = "≥ 1.2 × better-auth that mails";
    expect(found(report([sendsNone]))[1]).toEqual([name, aim, null]);
    expect(found(report([{ ...sendsNone, mailingPeer: figures(110) }]))[1]).toEqual([name, aim, false]);
    expect(found(report([{ ...sendsNone, mailingPeer: figures(108) }]))[1]).toEqual([name, aim, true]);
  });

  test("of the spread of times is judged at 128 connections alone", () => {
    const crowded = (p99: number) => line("totpLogin", 1, { connections: 128, ours: { ...figures(1), p99 } });
    const name = "password and TOTP, as our page";
    expect(found(report([crowded(30)]))[0]).toEqual([name, "p99 ≤ 3 × p50, at 128", true]);
    expect(found(report([crowded(31)]))[0]).toEqual([name, "p99 ≤ 3 × p50, at 128", false]);
  });

  test("of workers is the share of one worker's rate that each one more adds", () => {
    const grown = (workers: number, rate: number) => {
      const growth = [{ task: taskOf("sessionCheck"), workers, one: figures(500), all: figures(rate) }];
      return judgementsOf(report([line("sessionCheck", 100)], { growth }))[1];
    };
    expect(grown(2, 900)).toMatchObject({ found: "0.80", reached: true, why: "" });
    expect(grown(4, 1_550)).toMatchObject({ found: "0.70", reached: false });
    // 500 tasks a second of 3 ms each, and the tenth of a processor that the load takes.
    expect(grown(2, 600)?.why).toBe("1 worker keeps 1.60 of 2 processors busy: room for 0.25");
  });

  test("of the process is an upper bound", () => {
    const slow = report([], { startMs: 1_300, idleMiB: 250 });
    expect(found(slow).map(([, , reached]) => reached)).toEqual([false, false]);
  });

  test("that is short is printed as such, with its reason in figures", () => {
    const text = asMarkdown(report([line("flowStart", 20, { statements: { bare: 1, ours: 2 } })]));
    const why = "Stile 1.00 + 2.00 ms, 2 statements; hand-made 1.00 + 2.00 ms, 1 statement";
    const cells = text.split("\n").map((row) => row.split(/ *\| */));
    expect(cells).toContainEqual(["", "flow start", "≥ 0.75 × hand-made", "0.20 ×", "**short**", why, ""]);
    expect(cells).toContainEqual(["", "flow start", "1", "2", ""]);
  });
});

test("each login is measured as our page and as published clients do it", () => {
  const walksOf = (way: string) => tasks.filter((task) => task.way === way).map(({ walk }) => walk);
  for (const way of ["passkeyLogin", "codeLogin", "passwordLogin", "totpLogin", "thirdPartyLogin"])
    expect(walksOf(way)).toEqual(["page", "clients"]);
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
