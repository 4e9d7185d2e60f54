import { measure } from "../observability/metrics.ts";
import type { StepObserver } from "./observed-step.ts";

/** Measures steps for the metrics of the process. */
export const measureSteps: StepObserver = ({ milliseconds, type, from, verdict, traceId }) =>
  measure(
    "steps",
    milliseconds / 1_000,
    { "stile.flow.type": type, "stile.state": from, "stile.verdict": verdict },
    traceId,
  );
