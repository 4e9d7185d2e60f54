/** Too much is waiting in this process, so a request was not performed. A later attempt may succeed. */
export class OverloadedError extends Error {
  constructor(message = "too many requests are waiting") {
    super(message);
  }
}
