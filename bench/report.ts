import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "./figures.ts";
import { type Aim, JUDGED_CONNECTIONS, type Measured, processAims } from "./tasks.ts";

/** The measured servers: the hand-made one, Stile, and better-auth. */
export type ServerName = "bare" | "ours" | "peer";

/** Figures of one task at one number of connections, by server; statements where PostgreSQL counted them. */
export interface Line {
  task: Measured;
  connections: number;
  bare: Figures;
  ours: Figures;
  peer?: Figures;
  /** Verifications a second of a machine that does nothing else. */
  hashesPerSecond?: number;
  statements?: Partial<Record<ServerName, number>>;
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
  const atMost = (name: string, found: number, limit: number, unit: string): Judgement => ({
    name,
    aim: `≤ ${limit} ${unit}`,
    found: `${found.toFixed(0)} ${unit}`,
    reached: found <= limit,
  });
  return [
    ...lines
      .filter(({ connections }) => connections === JUDGED_CONNECTIONS)
      .flatMap((line) =>
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
    atMost("start to first answer", process.startMs, processAims.startMs, "ms"),
    atMost("idle memory", process.idleMiB, processAims.idleMiB, "MiB"),
  ];
}

/** Columns of a table: the head of each, and its cell of a row. */
type Columns<Row> = Record<string, (row: Row) => string>;

const perSecond = (value: number) => (value < 100 ? value.toFixed(1) : value.toFixed(0));
const rateAndCost = (figures: Figures | undefined) =>
  figures
    ? `${perSecond(figures.perSecond)} (${figures.cpu.toFixed(2)} + ${figures.postgresCpu.toFixed(2)})`
    : "–";
const costOf = ({ cpu, postgresCpu }: Figures) => cpu + postgresCpu;

const aimColumns: Columns<Judgement> = {
  [`at ${JUDGED_CONNECTIONS} connections`]: ({ name }) => name,
  aim: ({ aim }) => aim,
  found: ({ found }) => found,
  "": ({ reached }) => ({ true: "reached", false: "**short**", null: "–" })[`${reached}`],
};

const lineColumns: Columns<Line> = {
  "per second (CPU ms a task + PostgreSQL's)": ({ task }) => task.name,
  "hand-made": ({ bare }) => rateAndCost(bare),
  Stile: ({ ours }) => rateAndCost(ours),
  "of hand-made": ({ bare, ours }) => (ours.perSecond / bare.perSecond).toFixed(2),
  "by CPU": ({ bare, ours }) => (costOf(bare) / costOf(ours)).toFixed(2),
  "better-auth": ({ peer }) => rateAndCost(peer),
  "Stile p50, p99 ms": ({ ours }) => `${ours.p50.toFixed(1)}, ${ours.p99.toFixed(1)}`,
  "told to wait": ({ ours }) => (ours.waits === 0 ? "–" : ours.waits.toFixed(2)),
  generator: ({ ours }) => `${(ours.generator * 100).toFixed(0)} %`,
};

const statementColumns: Columns<Line> = {
  "": ({ task }) => task.name,
  "hand-made": ({ statements }) => String(statements?.bare),
  Stile: ({ statements }) => String(statements?.ours),
  "better-auth": ({ statements }) => String(statements?.peer ?? "–"),
};

/** A table in Markdown, in columns of fixed width; columns but the first are numbers. Empty if there are no rows. */
function table<Row>(title: string, columns: Columns<Row>, rows: readonly Row[]): string[] {
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
  const { lines, process } = report;
  const { "better-auth": _, ...withoutPeer } = lineColumns;
  const { "better-auth": __, ...statementsWithoutPeer } = statementColumns;
  const hasPeer = lines.some(({ peer }) => peer);
  const counted = lines.filter(({ statements }) => statements);
  const byConnections = [...Map.groupBy(lines, ({ connections }) => connections)];
  return [
    report.conditions,
    ...table("Aims", aimColumns, judgementsOf(report)),
    ...byConnections.flatMap(([connections, own]) => {
      const title = `${connections} ${connections === 1 ? "connection" : "connections"}`;
      return table(title, hasPeer ? lineColumns : withoutPeer, own);
    }),
    ...table(
      "Statements that PostgreSQL receives for one task",
      hasPeer ? statementColumns : statementsWithoutPeer,
      counted,
    ),
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
