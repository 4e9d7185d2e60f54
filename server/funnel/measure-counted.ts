import { measure } from "../observability/metrics.ts";
import type { Counted } from "./measures.ts";

/** Measures something that is counted, for the metrics of the process, which do not tell tenants apart. */
export function measureCounted({
  measure: counted,
  flowType,
  state,
  name,
  target,
  method,
  durationMs,
  traceId,
}: Counted): void {
  const seconds = (durationMs ?? 0) / 1_000;
  switch (counted) {
    case "signed_in":
    case "signed_up":
      measure(
        "signIns",
        seconds,
        { "stile.sign_in.kind": counted, "stile.method": method, "stile.second_method": name },
        traceId,
      );
      break;
    case "failed":
      measure("failures", 1, {
        "stile.flow.type": flowType,
        "stile.state": state,
        "stile.method": method,
        "stile.error": name,
        "stile.cause": target,
      });
      break;
    case "limited":
      measure("exceeded", 1, { "stile.limit": name });
      break;
    case "message":
      measure("messages", 1, { "stile.channel": name, "stile.outcome": target });
      break;
    case "delivery":
      measure("deliveries", seconds, { "stile.outcome": name });
      break;
    default:
  }
}
