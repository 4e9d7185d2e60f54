import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "./figures.ts";
import { type Aim, JUDGED_CONNECTIONS, type Measured, processAims } from "./tasks.ts";

/** Figures of one task at one number of connections, by server; statements where PostgreSQL counted them. */
export interface Line {
  task: Measured;
  connections: number;
  bare: Figures;
  ours: Figures;
  peer?: Figures;
  /** Verifications a second that a process with nothing else comes to. */
  hashesPerSecond?: number;
  statements?: { bare: number; ours: number; peer?: number };
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
  lines: readonly Line[];
  process: ProcessFigures;
}

/** What an aim came to: `share` is null where the other side was not measured. */
export interface Judgement {
  name: string;
  aim: string;
  found: string;
  reached: boolean | null;
}

function shareOf({ ours, bare, peer, hashesPerSecond }: Line, { of }: Aim): number | null {
  const other = of === "hand-made" ? bare.perSecond : of === "hash" ? hashesPerSecond : peer?.perSecond;
  return other === undefined ? null : ours.perSecond / other;
}

/** Judges every aim; those of tasks at `JUDGED_CONNECTIONS`. */
export function judgementsOf({ lines, process }: Report): Judgement[] {
  const judged = lines.filter(({ connections }) => connections === JUDGED_CONNECTIONS);
  return [
    ...judged.flatMap((line) =>
      line.task.aims.map((aim) => {
        const share = shareOf(line, aim);
        return {
          name: line.task.name,
          aim: `≥ ${aim.share} × ${aim.of}`,
          found: share === null ? "not measured" : `${share.toFixed(2)} ×`,
          reached: share === null ? null : share >= aim.share,
        };
      }),
    ),
    {
      name: "start to first answer",
      aim: `≤ ${processAims.startMs} ms`,
      found: `${process.startMs.toFixed(0)} ms`,
      reached: process.startMs <= processAims.startMs,
    },
    {
      name: "idle memory",
      aim: `≤ ${processAims.idleMiB} MiB`,
      found: `${process.idleMiB.toFixed(0)} MiB`,
      reached: process.idleMiB <= processAims.idleMiB,
    },
  ];
}

type Cells = readonly string[];

/** Tables with a head, by their title; columns but the first are numbers. */
interface Table {
  title: string;
  head: Cells;
  rows: Cells[];
}

function tablesOf(report: Report): Table[] {
  const { lines, process } = report;
  const perSecond = (value: number) => (value < 100 ? value.toFixed(1) : value.toFixed(0));
  const figures = ({ perSecond: rate, cpu, postgresCpu }: Figures) =>
    `${perSecond(rate)} (${cpu.toFixed(2)} + ${postgresCpu.toFixed(2)})`;
  const hasPeer = lines.some(({ peer }) => peer);
  const mark = { true: "reached", false: "**short**", null: "–" };
  return [
    {
      title: "Aims",
      head: [`at ${JUDGED_CONNECTIONS} connections`, "aim", "found", ""],
      rows: judgementsOf(report).map(({ name, aim, found, reached }) => [
        name,
        aim,
        found,
        mark[`${reached}`],
      ]),
    },
    ...[...Map.groupBy(lines, ({ connections }) => connections)].map(([connections, own]) => ({
      title: `${connections} ${connections === 1 ? "connection" : "connections"}`,
      head: [
        "per second (CPU ms a task + PostgreSQL's)",
        "hand-made",
        "Stile",
        "of hand-made",
        "by CPU",
        ...(hasPeer ? ["better-auth"] : []),
        "Stile p50, p99 ms",
        "told to wait",
        "generator",
      ],
      rows: own.map(({ task, bare, ours, peer }) => [
        task.name,
        figures(bare),
        figures(ours),
        (ours.perSecond / bare.perSecond).toFixed(2),
        ((bare.cpu + bare.postgresCpu) / (ours.cpu + ours.postgresCpu)).toFixed(2),
        ...(hasPeer ? [peer ? figures(peer) : "–"] : []),
        `${ours.p50.toFixed(1)}, ${ours.p99.toFixed(1)}`,
        ours.waits === 0 ? "–" : ours.waits.toFixed(2),
        `${(ours.generator * 100).toFixed(0)} %`,
      ]),
    })),
    {
      title: "Statements that PostgreSQL receives for one task",
      head: ["", "hand-made", "Stile", ...(hasPeer ? ["better-auth"] : [])],
      rows: lines
        .flatMap(({ task, statements }) => (statements ? [{ task, statements }] : []))
        .map(({ task, statements: { bare, ours, peer } }) => [
          task.name,
          String(bare),
          String(ours),
          ...(hasPeer ? [peer === undefined ? "–" : String(peer)] : []),
        ]),
    },
    {
      title: "Process",
      head: ["", ""],
      rows: [
        ["start to first answer", `${process.startMs.toFixed(0)} ms`],
        ["the same with an empty data folder", `${process.firstStartMs.toFixed(0)} ms`],
        ["resident memory, idle", `${process.idleMiB.toFixed(0)} MiB`],
        ["resident memory, peak", `${process.peakMiB.toFixed(0)} MiB`],
      ],
    },
  ].filter(({ rows }) => rows.length > 0);
}

/** The report in columns of fixed width. */
export function asText(report: Report): string {
  const blocks = tablesOf(report).map(({ title, head, rows }) => {
    const all = [head, ...rows];
    const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
    const line = (row: Cells) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd();
    return [title, ...all.map(line)].join("\n");
  });
  return [report.conditions, ...blocks].join("\n\n").replaceAll("**", "");
}

/** The report in Markdown. */
function asMarkdown(report: Report): string {
  const blocks = tablesOf(report).map(({ title, head, rows }) => {
    const line = (row: Cells) => `| ${row.join(" | ")} |`;
    const rule = `|${head.map((_, column) => (column === 0 ? "---" : "--:")).join("|")}|`;
    return `**${title}**\n\n${[line(head), rule, ...rows.map(line)].join("\n")}`;
  });
  return [report.conditions, ...blocks].join("\n\n");
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
