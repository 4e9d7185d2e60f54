import type { Attributes } from "@opentelemetry/api";

/** A measured value, and the trace of what was measured (OpenMetrics 1.0.0, "Exemplars"). */
export interface Exemplar {
  /** 32 hexadecimal digits, of a trace that is recorded. */
  traceId: string;
  value: number;
  /** In seconds since 1970. */
  at: number;
}

/** Series of one histogram that have exemplars, above the number that names of the protocol come to. */
const MAX_SERIES = 2_000;

/**
 * The newest exemplar of each bucket of a histogram's series. The SDK for metrics keeps none.
 */
export class Exemplars {
  readonly #attributes: readonly string[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, (Exemplar | undefined)[]>();

  /**
   * @param attributes names of those that tell series apart
   * @param bounds upper bounds of the buckets but the last one, which has none
   */
  constructor(attributes: readonly string[], bounds: readonly number[]) {
    this.#attributes = attributes;
    this.#bounds = bounds;
  }

  keep(attributes: Attributes, value: number, traceId: string): void {
    const key = this.#keyOf(attributes);
    let buckets = this.#series.get(key);
    if (!buckets) {
      if (this.#series.size >= MAX_SERIES) return;
      buckets = [];
      this.#series.set(key, buckets);
    }
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    buckets[bucket] = { traceId, value, at: Date.now() / 1_000 };
  }

  /** The exemplars of a series by bucket; null for a bucket without one. */
  of(attributes: Attributes): (Exemplar | null)[] {
    const buckets = this.#series.get(this.#keyOf(attributes)) ?? [];
    return Array.from(buckets, (exemplar) => exemplar ?? null);
  }

  #keyOf(attributes: Attributes): string {
    return this.#attributes.map((name) => attributes[name] ?? "").join("\n");
  }
}
