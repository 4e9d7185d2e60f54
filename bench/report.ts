import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "./figures.ts";
import {
  type Aim,
  CROWDED_CONNECTIONS,
  JUDGED_CONNECTIONS,
  type Measured,
  processAims,
  type Rival,
  rivals,
} from "./tasks.ts";

/** The measured servers. */
export type ServerName = "ours" | Rival;

/** Figures of one task at one number of connections, by server; statements where PostgreSQL counted them. */
export interface Line extends Partial<Record<Rival, Figures>> {
  task: Measured;
  connections: number;
  bare: Figures;
  ours: Figures;
  /** Verifications a second of a machine that does nothing else. */
  hashesPerSecond?: number;
  statements?: Partial<Record<ServerName, number>>;
}

/** Figures of Stile in one task at `JUDGED_CONNECTIONS`, with one worker and with one for each processor, in turns. */
export interface Growth {
  task: Measured;
  /** Of `all`. */
  workers: number;
  one: Figures;
  all: Figures;
}

/** Figures of Stile's process. */
export interface ProcessFigures {
  startMs: number;
  firstStartMs: number;
  idleMiB: number;
  peakMiB: number;
}

/** The whole run. */
export interface Report {
  /** What was measured where and when, in one line. */
  conditions: string;
  /** Of the machine. */
  processors: number;
  lines: readonly Line[];
  growth: readonly Growth[];
  process: ProcessFigures;
}

/** What an aim came to: `reached` is null where the other side was not measured. */
export interface Judgement {
  name: string;
  aim: string;
  found: string;
  reached: boolean | null;
  /** Why it is short, in figures of the run; empty where it is not. */
  why: string;
}

const judgement = (
  name: string,
  aim: string,
  found: string,
  reached: boolean | null,
  why = "",
): Judgement => ({
  name,
  aim,
  found,
  reached,
  why: reached === false ? why : "",
});

/** Judges every aim, at the connections that it is meant for. */
export function judgementsOf(report: Report): Judgement[] {
  const { lines, process } = report;
  const atMost = (name: string, found: number, limit: number, unit: string): Judgement =>
    judgement(name, `≤ ${limit} ${unit}`, `${found.toFixed(0)} ${unit}`, found <= limit);
  return [
    ...lines.flatMap((line) => line.task.aims.flatMap((aim) => judge(line, aim, report))),
    atMost("start to first answer", process.startMs, processAims.startMs, "ms"),
    atMost("idle memory", process.idleMiB, processAims.idleMiB, "MiB"),
  ];
}

/** Nothing if the aim is meant for another number of connections. */
function judge(line: Line, aim: Aim, { processors, growth }: Report): Judgement[] {
  const { task, connections, ours } = line;
  if ("spread" in aim) {
    if (connections !== CROWDED_CONNECTIONS) return [];
    const spread = ours.p99 / ours.p50;
    const why = `${timesText(ours)} ms, told to wait ${ours.waits.toFixed(2)} times a task`;
    const text = `p99 ≤ ${aim.spread} × p50, at ${connections}`;
    return [judgement(task.name, text, `${spread.toFixed(2)} ×`, spread <= aim.spread, why)];
  }
  if (connections !== JUDGED_CONNECTIONS) return [];
  if ("growth" in aim) {
    const text = `≥ ${aim.growth} more a worker`;
    const measured = growth.find((one) => one.task === task);
    if (!measured) return [judgement(task.name, text, NOT_MEASURED, null)];
    const grown = growthOf(measured);
    const busy = busyProcessors(measured.one);
    const room = (processors / busy - 1) / (measured.workers - 1);
    const why = `1 worker keeps ${busy.toFixed(2)} of ${processors} processors busy: room for ${room.toFixed(2)}`;
    return [judgement(task.name, text, grown.toFixed(2), grown >= aim.growth, why)];
  }
  const { rate, name, cost } = comparedWith(line, aim.of, processors);
  const text = `≥ ${aim.share} × ${name}`;
  if (rate === undefined) return [judgement(task.name, text, NOT_MEASURED, null)];
  const share = ours.perSecond / rate;
  const why = `Stile ${workText(line, "ours")}; ${name} ${cost}`;
  return [judgement(task.name, text, `${share.toFixed(2)} ×`, share >= aim.share, why)];
}

const NOT_MEASURED = "not measured";

/** What Stile's rate is compared with: a server, or the hashes that the machine can do. */
function comparedWith(line: Line, other: Rival | "hash", processors: number) {
  if (other !== "hash")
    return { rate: line[other]?.perSecond, name: rivals[other], cost: workText(line, other) };
  const rate = line.hashesPerSecond;
  return { rate, name: "hash", cost: `${((processors / (rate ?? 0)) * 1000).toFixed(2)} ms` };
}

/** Processor time and statements of a task on a server. */
function workText(line: Line, server: ServerName): string {
  const [figures, count] = [line[server], line.statements?.[server]];
  const statements = count === undefined ? "" : `, ${count} ${count === 1 ? "statement" : "statements"}`;
  return figures ? `${costText(figures)} ms${statements}` : "";
}

/** What each worker more adds, as a share of the rate of one. */
const growthOf = ({ one, all, workers }: Growth) => (all.perSecond / one.perSecond - 1) / (workers - 1);

/** Processors that a server, PostgreSQL and the load generator keep busy together. */
const busyProcessors = (figures: Figures) => (figures.perSecond * costOf(figures)) / 1000 + figures.generator;

/** Columns of a table: the head of each, and its cell of a row. */
export type Columns<Row> = Record<string, (row: Row) => string>;

export const perSecond = (value: number) => (value < 100 ? value.toFixed(1) : value.toFixed(0));
export const costText = ({ cpu, postgresCpu }: Figures) => `${cpu.toFixed(2)} + ${postgresCpu.toFixed(2)}`;
const rateAndCost = (figures: Figures | undefined) =>
  figures ? `${perSecond(figures.perSecond)} (${costText(figures)})` : "–";
export const timesText = ({ p50, p99 }: Figures) => `${p50.toFixed(1)}, ${p99.toFixed(1)}`;
const costOf = ({ cpu, postgresCpu }: Figures) => cpu + postgresCpu;

const aimColumns: Columns<Judgement> = {
  [`at ${JUDGED_CONNECTIONS} connections`]: ({ name }) => name,
  aim: ({ aim }) => aim,
  found: ({ found }) => found,
  "": ({ reached }) => ({ true: "reached", false: "**short**", null: "–" })[`${reached}`],
  "why it is short": ({ why }) => why,
};

/** Columns of the servers of better-auth that were measured in some row. */
const peerColumns = (lines: readonly Line[], cell: (line: Line, peer: Rival) => string): Columns<Line> =>
  Object.fromEntries(
    (["peer", "mailingPeer"] as const)
      .filter((peer) => lines.some((line) => line[peer]))
      .map((peer) => [rivals[peer], (line: Line) => cell(line, peer)]),
  );

const lineColumns = (lines: readonly Line[]): Columns<Line> => ({
  "per second (CPU ms a task + PostgreSQL's)": ({ task }) => task.name,
  "hand-made": ({ bare }) => rateAndCost(bare),
  Stile: ({ ours }) => rateAndCost(ours),
  "of hand-made": ({ bare, ours }) => (ours.perSecond / bare.perSecond).toFixed(2),
  "by CPU": ({ bare, ours }) => (costOf(bare) / costOf(ours)).toFixed(2),
  ...peerColumns(lines, (line, peer) => rateAndCost(line[peer])),
  "Stile p50, p99 ms": ({ ours }) => timesText(ours),
  "told to wait": ({ ours }) => (ours.waits === 0 ? "–" : ours.waits.toFixed(2)),
  generator: ({ ours }) => `${(ours.generator * 100).toFixed(0)} %`,
});

const statementColumns = (lines: readonly Line[]): Columns<Line> => ({
  "": ({ task }) => task.name,
  "hand-made": ({ statements }) => String(statements?.bare),
  Stile: ({ statements }) => String(statements?.ours),
  ...peerColumns(lines, ({ statements }, peer) => String(statements?.[peer] ?? "–")),
});

const growthColumns: Columns<Growth> = {
  "per second (CPU ms a task + PostgreSQL's)": ({ task }) => task.name,
  "1 worker": ({ one }) => rateAndCost(one),
  "a worker for each processor": ({ all }) => rateAndCost(all),
  "more a worker": (growth) => growthOf(growth).toFixed(2),
  "processors that 1 worker keeps busy": ({ one }) => busyProcessors(one).toFixed(2),
};

/** A table in Markdown, in columns of fixed width; columns but the first are numbers. Empty if there are no rows. */
export function table<Row>(title: string, columns: Columns<Row>, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const cells = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((cell) => cell(row)))];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (at === 0 ? row[at]?.padEnd(width) : row[at]?.padStart(width))).join(" | ")} |`;
  const rule = widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [head = [], ...body] = cells;
  return [`**${title}**`, [head, rule, ...body].map(line).join("\n")];
}

/** The report in Markdown, which a terminal can show too. */
export function asMarkdown(report: Report): string {
  const { lines, growth, process } = report;
  const byConnections = [...Map.groupBy(lines, ({ connections }) => connections)];
  const counted = (byConnections[0]?.[1] ?? []).filter(({ statements }) => statements);
  return [
    report.conditions,
    ...table("Aims", aimColumns, judgementsOf(report)),
    ...byConnections.flatMap(([connections, own]) => {
      const title = `${connections} ${connections === 1 ? "connection" : "connections"}`;
      return table(title, lineColumns(lines), own);
    }),
    ...table("Workers", growthColumns, growth),
    ...table("Statements that PostgreSQL receives for one task", statementColumns(lines), counted),
    ...table("Process", { "": ([name]) => name, " ": ([, figure]) => figure }, [
      ["start to first answer", `${process.startMs.toFixed(0)} ms`],
      ["the same with an empty data folder", `${process.firstStartMs.toFixed(0)} ms`],
      ["resident memory, idle", `${process.idleMiB.toFixed(0)} MiB`],
      ["resident memory, peak", `${process.peakMiB.toFixed(0)} MiB`],
    ] as [string, string][]),
  ].join("\n\n");
}

const page = join(import.meta.dirname, "../docs/performance.md");

/** Replaces the tables of `docs/performance.md`. */
export function writeDocs(report: Report): void {
  const text = readFileSync(page, "utf8");
  const marked = /(<!-- bench -->\n)[\s\S]*?(<!-- \/bench -->)/;
  if (!marked.test(text)) throw new Error(`${page} has no place for the tables`);
  writeFileSync(
    page,
    text.replace(marked, (_, begin: string, end: string) => `${begin}\n${asMarkdown(report)}\n\n${end}`),
  );
}
