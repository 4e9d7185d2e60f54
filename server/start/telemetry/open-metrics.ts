import type { Exemplar } from "../../observability/exemplars.ts";
import type { Collected, Histogram, Point } from "./collected.ts";

/** The metrics of one process of the server. */
export interface CollectedByProcess {
  /** Tells it apart from the others: the label `process`. */
  process: string;
  metrics: readonly Collected[];
}

/** The media type of what `openMetrics` writes. */
export const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/**
 * Writes metrics as text (OpenMetrics 1.0.0). Names are made as OpenTelemetry says ("Prometheus and OpenMetrics
 * Compatibility"): dots become underscores, and the unit and `total` end them.
 *
 * Those of several processes are told apart by a label, rather than added: the sum would fall when a process is replaced,
 * and a counter that falls counts as one that began anew.
 */
export function openMetrics(processes: readonly CollectedByProcess[]): string {
  const families = new Map<string, { of: Collected; lines: string[] }>();
  for (const { process, metrics } of processes) {
    for (const metric of metrics) {
      const name = familyName(metric);
      const family = families.get(name) ?? { of: metric, lines: [] };
      families.set(name, family);
      for (const point of metric.points) family.lines.push(...samples(name, metric.kind, point, process));
    }
  }
  const lines = [...families].flatMap(([name, { of, lines }]) => [
    `# TYPE ${name} ${of.kind}`,
    ...(unitName(of.unit) ? [`# UNIT ${name} ${unitName(of.unit)}`] : []),
    `# HELP ${name} ${escaped(of.description)}`,
    ...lines,
  ]);
  return `${[...lines, "# EOF"].join("\n")}\n`;
}

const units: Readonly<Record<string, string>> = { s: "seconds", By: "bytes", "1": "ratio" };

/** Things that are counted, in braces, are no unit of OpenMetrics. */
const unitName = (unit: string) => units[unit] ?? "";

/** The name of a metric without `_total`. */
export function familyName({ name, unit }: Pick<Collected, "name" | "unit">): string {
  const base = name.replaceAll(/[^A-Za-z0-9_]/g, "_");
  const suffix = unitName(unit);
  return suffix === "" || base.endsWith(`_${suffix}`) ? base : `${base}_${suffix}`;
}

function samples(
  name: string,
  kind: Collected["kind"],
  { attributes, value }: Point,
  process: string,
): string[] {
  const own = [...Object.entries(attributes), ["process", process] as const].map(
    ([label, text]) => `${label.replaceAll(/[^A-Za-z0-9_]/g, "_")}="${escaped(text)}"`,
  );
  const labels = (...more: string[]) => `{${[...own, ...more].join(",")}}`;
  if (typeof value === "number") return [`${name}${kind === "counter" ? "_total" : ""}${labels()} ${value}`];
  return [
    ...bucketsOf(value).map(
      ({ bound, count, exemplar }) => `${name}_bucket${labels(`le="${bound}"`)} ${count}${written(exemplar)}`,
    ),
    `${name}_count${labels()} ${value.count}`,
    `${name}_sum${labels()} ${value.sum}`,
  ];
}

/** The counts of values up to each bound, and the exemplars of each bucket alone. */
function bucketsOf({ bounds, counts, exemplars }: Histogram) {
  let sum = 0;
  return counts.map((count, index) => {
    sum += count;
    const bound = bounds[index];
    return {
      bound: bound === undefined ? "+Inf" : Number.isInteger(bound) ? `${bound}.0` : String(bound),
      count: sum,
      exemplar: exemplars[index] ?? null,
    };
  });
}

/** An exemplar as it follows its sample. Its label is named as OpenTelemetry says. */
const written = (exemplar: Exemplar | null): string =>
  exemplar ? ` # {trace_id="${exemplar.traceId}"} ${exemplar.value} ${exemplar.at}` : "";

const escaped = (text: string) =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
