import { type Connection, openConnection } from "./connection.ts";

/**
 * The load generator: a process of its own that performs the tasks of its parent one after the other. The next
 * task continues the flows that the previous one created.
 */
export interface Task {
  url: string;
  headers?: Record<string, string>;
  connections: number;
  /** Seconds of warm-up, then seconds that are measured. */
  warmUp: number;
  seconds: number;
  send:
    | { kind: "get"; path: string }
    /** Starts flows, which replace the earlier ones. */
    | { kind: "start"; path: string }
    /** Performs an action once on each flow. */
    | { kind: "once"; action: string; input: Record<string, unknown> }
    /** Performs an action repeatedly, on one flow per connection. */
    | { kind: "again"; action: string; input: Record<string, unknown> };
}

/** Milliseconds per measured request. */
export interface Result {
  seconds: number;
  latencies: number[];
}

export type Report = { measuring: true } | { result: Result } | { failed: string };

interface Flow {
  token: string;
  path: string;
}

/** Flows for the next task, by the URL of the server. */
const flowsByUrl = new Map<string, Flow[]>();

async function perform(task: Task, measuring: () => void): Promise<Result> {
  const flows = flowsByUrl.get(task.url) ?? [];
  const connections = await Promise.all(
    Array.from({ length: task.connections }, () => openConnection(task.url, task.headers)),
  );
  const begin = performance.now();
  const measuredFrom = begin + task.warmUp * 1000;
  const end = measuredFrom + task.seconds * 1000;
  const latencies: number[] = [];
  const continued: Flow[] = [];
  let announced = false;
  let finished = begin;

  async function work(connection: Connection): Promise<void> {
    const own = task.send.kind === "again" ? flows.pop() : undefined;
    for (let now = performance.now(); now < end; ) {
      if (!announced && now >= measuredFrom) {
        announced = true;
        measuring();
      }
      const flow = own ?? (task.send.kind === "once" ? flows.pop() : undefined);
      if (!flow && (task.send.kind === "once" || task.send.kind === "again")) return;
      const answer = await exchange(connection, task, flow);
      const after = performance.now();
      if (now >= measuredFrom) latencies.push(after - now);
      if (answer && !own) continued.push(answer);
      finished = now = after;
    }
    if (own) continued.push(own);
  }

  await Promise.all(connections.map(work));
  for (const connection of connections) connection.close();
  // Flows that the task did not reach are in the wrong state for the next one.
  if (task.send.kind === "start" || task.send.kind === "once") flowsByUrl.set(task.url, continued);
  if (task.send.kind === "again") flowsByUrl.set(task.url, [...flows, ...continued]);
  return { seconds: (finished - measuredFrom) / 1000, latencies };
}

/** Sends one request; updates or adds its flow. */
async function exchange(
  connection: Connection,
  task: Task,
  flow: Flow | undefined,
): Promise<Flow | undefined> {
  const { send } = task;
  const answer =
    flow && "action" in send
      ? await connection.send(
          "POST",
          flow.path.replace("*", send.action),
          JSON.stringify({ input_data: send.input, csrf_token: flow.token }),
        )
      : await connection.send(send.kind === "get" ? "GET" : "POST", "path" in send ? send.path : "/");
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body.slice(0, 500)}`);
  if (send.kind === "get") return undefined;
  const state = JSON.parse(answer.body) as {
    csrf_token: string;
    actions: Record<string, { action: string; href: string }>;
  };
  if (flow) {
    flow.token = state.csrf_token;
    return flow;
  }
  const [some] = Object.values(state.actions);
  if (!some) throw new Error(`the state offers no action: ${answer.body.slice(0, 500)}`);
  return { token: state.csrf_token, path: some.href.replace(`=${some.action}%40`, "=*%40") };
}

const report = (message: Report) => process.send?.(message);

process.on("message", (task: Task) => {
  perform(task, () => report({ measuring: true })).then(
    (result) => report({ result }),
    (error: unknown) => report({ failed: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
