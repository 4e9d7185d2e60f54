import type { Exemplar } from "../../observability/exemplars.ts";

/** A metric as one process has collected it, in plain members, which processes send to each other. */
export interface Collected {
  /** In OpenTelemetry: dots, no unit. */
  name: string;
  unit: string;
  description: string;
  kind: "counter" | "gauge" | "histogram";
  points: Point[];
}

/** A value, and what tells it apart from others of its metric. */
export interface Point {
  attributes: Record<string, string>;
  value: number | Histogram;
}

export interface Histogram {
  sum: number;
  count: number;
  /** Upper bounds of the buckets but the last one, which has none. */
  bounds: number[];
  /** Of each bucket alone. */
  counts: number[];
  /** Of each bucket; the last ones may be missing. */
  exemplars: (Exemplar | null)[];
}
