import { ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { RequestTracer } from "./tracer.ts";

function tracerOf(part: number) {
  const ended: ReadableSpan[] = [];
  const origin = { resource: resourceFromAttributes({}), scope: { name: "test" } };
  return { ended, tracer: new RequestTracer(part, { ...origin, onEnd: (span) => ended.push(span) }) };
}

const nanoseconds = ([seconds, rest]: readonly [number, number]) =>
  BigInt(seconds) * 1_000_000_000n + BigInt(rest);

test("a span lies within the one above it by the time of both, and ends once", () => {
  const { tracer, ended } = tracerOf(1);
  const request = tracer.startSpan("request", { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  const step = tracer.startSpan("step", {}, trace.setSpan(ROOT_CONTEXT, request));
  step.end();
  step.end();
  request.end();
  expect(ended.map(({ name }) => name)).toEqual(["step", "request"]);
  const [inner, outer] = ended;
  if (!inner || !outer) throw new Error("no spans");
  expect(inner.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(inner.spanContext().traceId).toBe(request.spanContext().traceId);
  const times = [outer.startTime, inner.startTime, inner.endTime, outer.endTime].map(nanoseconds);
  expect(times).toEqual(times.toSorted((one, other) => (one < other ? -1 : 1)));
  expect(Math.abs(outer.endTime[0] - Date.now() / 1_000)).toBeLessThan(60);
  expect(nanoseconds(inner.duration)).toBeGreaterThanOrEqual(0n);
});

test("what a span is described by is its own: the attributes of its kind stay as they are", () => {
  const { tracer } = tracerOf(1);
  const attributes = { "db.system.name": "postgresql" };
  tracer.startSpan("one", { attributes }, ROOT_CONTEXT).setAttribute("db.operation.batch.size", 2);
  expect(attributes).toEqual({ "db.system.name": "postgresql" });
});

test("what belongs to a request that is not recorded is not recorded either", () => {
  const { tracer, ended } = tracerOf(0);
  const request = tracer.startSpan("request", {}, ROOT_CONTEXT);
  const step = tracer.startSpan("step", {}, trace.setSpan(ROOT_CONTEXT, request));
  expect([request.isRecording(), step.isRecording()]).toEqual([false, false]);
  expect(step.spanContext().traceId).toMatch(/^[\da-f]{32}$/);
  step.end();
  request.end();
  expect(ended).toEqual([]);
});
