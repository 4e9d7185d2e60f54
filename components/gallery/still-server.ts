import type { FlowAnswer, FlowServer } from "../flow/flow-server.ts";
import type { Drawing } from "./gallery.ts";

/** The step that abandons the flow. */
const START_OVER = "start_over";

/** A server at which nothing changes: it answers with the state of the drawing, and to its step with what follows. */
export function stillServer({ version, state, step, redirectTo }: Drawing): FlowServer {
  const initial: FlowAnswer = { version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) };
  let isLost = false;
  const underWay = () => new Promise<never>(() => {});
  const current = () =>
    isLost ? Promise.reject(new TypeError("The connection is lost.")) : Promise.resolve(initial);
  return {
    start() {
      if (step?.action === START_OVER) isLost = step.answer === "lost";
      return current();
    },
    current,
    act(_, action) {
      if (action !== step?.action || step.answer === "under_way") return underWay();
      isLost = step.answer === "lost";
      return step.answer === "lost"
        ? current()
        : Promise.resolve({ version: version + 1, state: step.answer });
    },
  };
}
