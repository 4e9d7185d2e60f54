import { randomFillSync } from "node:crypto";
import {
  type Attributes,
  type AttributeValue,
  type Context,
  context,
  type HrTime,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import type { InstrumentationScope } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { SpanMaker } from "../../observability/spans.ts";

/** What all spans of a process have in common. */
interface Origin {
  resource: Resource;
  scope: InstrumentationScope;
  /** Takes a span that has ended. */
  onEnd(span: ReadableSpan): void;
}

/**
 * Makes spans, and decides which requests are recorded. The tracer of the SDK checks and copies each attribute several
 * times, for what others may call it with, and takes twice the time.
 */
export class RequestTracer implements SpanMaker {
  readonly #part: number;
  readonly #origin: Origin;

  /** @param part of the requests that is recorded, from 0 to 1 */
  constructor(part: number, origin: Origin) {
    this.#part = part;
    this.#origin = origin;
  }

  startSpan(name: string, { kind, attributes }: SpanOptions = {}, within: Context = context.active()): Span {
    const above = trace.getSpan(within);
    const parent = above?.spanContext();
    const spanContext: SpanContext = {
      traceId: parent?.traceId ?? randomId(TRACE_ID_BYTES),
      spanId: randomId(SPAN_ID_BYTES),
      traceFlags: this.#isRecorded(parent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
    };
    if (spanContext.traceFlags === TraceFlags.NONE) return trace.wrapSpanContext(spanContext);
    const clock = above instanceof RecordedSpan ? above.clock : Date.now() - performance.now();
    return new RecordedSpan(this.#origin, name, spanContext, parent, kind, { ...attributes }, clock);
  }

  /**
   * All that belongs to a request is recorded with it. Requests are chosen by chance: a caller that sends the id of its trace
   * would choose by it, and would be recorded always or never.
   */
  #isRecorded(parent: SpanContext | undefined): boolean {
    const isBegun = parent !== undefined && parent.isRemote !== true;
    return isBegun ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : Math.random() < this.#part;
  }
}

const NO_ITEMS: never[] = [];

/** A span that is recorded. It has no events and no links: nothing that Stile does is told by them. */
class RecordedSpan implements Span, ReadableSpan {
  name: string;
  status: SpanStatus = { code: SpanStatusCode.UNSET };
  ended = false;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly parentSpanContext?: SpanContext;
  /** Milliseconds from the time of the monotonic clock to that since 1970: the same in a trace, so that its spans are in order. */
  readonly clock: number;
  readonly events = NO_ITEMS;
  readonly links = NO_ITEMS;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #origin: Origin;
  readonly #context: SpanContext;
  readonly #startedAt = performance.now();
  #endedAt = 0;

  constructor(
    origin: Origin,
    name: string,
    spanContext: SpanContext,
    parent: SpanContext | undefined,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Attributes = {},
    clock = 0,
  ) {
    this.#origin = origin;
    this.name = name;
    this.#context = spanContext;
    if (parent) this.parentSpanContext = parent;
    this.kind = kind;
    this.attributes = attributes;
    this.clock = clock;
  }

  get resource(): Resource {
    return this.#origin.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.#origin.scope;
  }

  get startTime(): HrTime {
    return hrTime(this.clock + this.#startedAt);
  }

  get endTime(): HrTime {
    return hrTime(this.clock + this.#endedAt);
  }

  get duration(): HrTime {
    return hrTime(this.#endedAt - this.#startedAt);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  setAttribute(name: string, value: AttributeValue): this {
    this.attributes[name] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  updateName(name: string): this {
    this.name = name;
    return this;
  }

  end(): void {
    if (this.ended) return;
    this.#endedAt = performance.now();
    this.ended = true;
    this.#origin.onEnd(this);
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  recordException(): void {}
}

/** A time in milliseconds as OpenTelemetry has it: seconds and nanoseconds. */
function hrTime(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1_000);
  return [seconds, Math.floor((milliseconds - seconds * 1_000) * 1_000_000)];
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Random bytes for the next ids: to ask for those of each id costs more than all else of a span. */
const pool = Buffer.alloc(4_096);
let taken = pool.length;

/** Random bytes in hexadecimal digits (W3C Trace Context, 3.2.2). */
function randomId(bytes: number): string {
  if (taken + bytes > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += bytes;
  return pool.toString("hex", taken - bytes, taken);
}
