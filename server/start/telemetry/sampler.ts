import { type Context, type Sampler, SamplingDecision, type SamplingResult, trace } from "@opentelemetry/api";

/**
 * Records a part of the requests, and all that belongs to them. The part is chosen by chance: a caller that sends the id of
 * its trace would choose by it, and would be recorded always or never.
 */
export class RequestSampler implements Sampler {
  readonly #part: number;

  /** @param part from 0 to 1 */
  constructor(part: number) {
    this.#part = part;
  }

  shouldSample(context: Context): SamplingResult {
    const parent = trace.getSpanContext(context);
    const isBegun = parent !== undefined && parent.isRemote !== true;
    const isRecorded = isBegun ? (parent.traceFlags & 1) === 1 : Math.random() < this.#part;
    return { decision: isRecorded ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
  }

  toString(): string {
    return `RequestSampler{${this.#part}}`;
  }
}
