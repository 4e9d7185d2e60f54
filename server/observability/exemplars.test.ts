import { trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { Exemplars } from "./exemplars.ts";
import { recordedTrace } from "./spans.ts";

test("the exemplars of a histogram are bounded by its buckets, and by a number of series", () => {
  const exemplars = new Exemplars(["state"], [1, 5]);
  const idOf = (digit: string) => digit.repeat(32);
  exemplars.keep({ state: "a" }, 1, idOf("1"));
  exemplars.keep({ state: "a" }, 1.5, idOf("2"));
  exemplars.keep({ state: "a" }, 0.5, idOf("3"));
  exemplars.keep({ state: "a" }, 9, idOf("4"));
  const ids = exemplars.of({ state: "a" }).map((exemplar) => exemplar?.traceId);
  expect(ids).toEqual([idOf("3"), idOf("2"), idOf("4")]);
  for (let index = 0; index < 3_000; index += 1) exemplars.keep({ state: String(index) }, 9, idOf("5"));
  expect(exemplars.of({ state: "0" })).toEqual([null, null, expect.objectContaining({ value: 9 })]);
  expect(exemplars.of({ state: "2999" })).toEqual([]);
});

test("a span that is not recorded gives no trace for an exemplar", () => {
  const span = trace.wrapSpanContext({ traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: 0 });
  expect([recordedTrace(span), recordedTrace(null)]).toEqual([null, null]);
});
