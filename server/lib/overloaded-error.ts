import { recognizeEveryCopy } from "./every-copy.ts";

/** Too much is waiting in this process, so a request was not performed. A later attempt may succeed. */
export class OverloadedError extends Error {
  static {
    recognizeEveryCopy(OverloadedError, "OverloadedError");
  }
  constructor(message = "too many requests are waiting") {
    super(message);
  }
}
