import cluster from "node:cluster";
import type { ToOwner, ToWorker, Wakeable } from "../start/messages.ts";

/**
 * A process in place of a worker of the server, for tests of its owner. `SCRIPT` says what it does once it serves:
 *
 * - `wakes`: wakes jobs and deliveries;
 * - `tells`: the first worker tells the others that an authenticator request was answered, and each that hears of it wakes
 *   the job that is named after the request and its own number;
 * - `serves`: nothing;
 * - `dies`: ends;
 * - `fails`: does not get to serve.
 */

const tell = (message: ToOwner) => process.send?.(message);
const number = cluster.worker?.id ?? 0;

const scripts: Record<string, () => void> = {
  wakes() {
    tell({ kind: "wake", of: "send_mail" });
    tell({ kind: "wake", of: "deliveries" });
  },
  tells() {
    if (number % 2 === 1) tell({ kind: "answered", tenantId: "tenant", id: `by ${number}` });
  },
  dies() {
    // Once this is sent, all before it was.
    const last: ToOwner = { kind: "wake", of: "deliveries" };
    process.send?.(last, undefined, undefined, () => process.exit(7));
  },
};

const { SCRIPT = "" } = process.env;

process.on("message", (message: ToWorker) => {
  if (message.kind === "begin") {
    if (SCRIPT === "fails") return void tell({ kind: "failed", line: "it has no share", exitCode: 3 });
    tell({ kind: "serving" });
    scripts[SCRIPT]?.();
  } else if (message.kind === "answered") {
    tell({ kind: "wake", of: `${message.id}, heard by ${number}` as Wakeable });
  } else if (message.kind === "stop") process.exit(0);
});
tell({ kind: "listening", port: 3000 });
