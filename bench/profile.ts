/** A sampling profile of the server by its inspector, summed up by who runs the code. */

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string };
}

interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

/** Settings of a server that can be profiled. */
export const profilable = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/**
 * Profiles the server while `run` runs, and prints the largest shares of the time in which its processes worked, in one
 * list for all of them.
 *
 * @param logs of the server, which name the inspector's addresses
 * @param pids of the processes to profile, whose addresses are the last in the logs
 */
export async function printProfile(
  name: string,
  logs: string,
  pids: readonly number[],
  run: () => Promise<unknown>,
): Promise<void> {
  const addresses = [...logs.matchAll(/Debugger listening on (ws:\S+)/g)].map(([, address = ""]) => address);
  const inspectors = await Promise.all(addresses.slice(-pids.length).map(openInspector));
  for (const inspector of inspectors) {
    await inspector.call("Profiler.enable");
    await inspector.call("Profiler.start");
  }
  await run();
  const profiles = await Promise.all(
    inspectors.map(
      async (inspector) => ((await inspector.call("Profiler.stop")) as { profile: CpuProfile }).profile,
    ),
  );
  for (const inspector of inspectors) inspector.close();
  const times = new Map<string, number>();
  for (const { nodes, samples, timeDeltas } of profiles) {
    const owners = new Map(nodes.map(({ id, callFrame }) => [id, ownerOf(callFrame)]));
    for (const [index, id] of samples.entries()) {
      const owner = owners.get(id) ?? "";
      times.set(owner, (times.get(owner) ?? 0) + (timeDeltas[index] ?? 0));
    }
  }
  times.delete("(idle)");
  const worked = [...times.values()].reduce((sum, time) => sum + time, 0);
  const largest = [...times].toSorted(([, one], [, other]) => other - one).slice(0, 15);
  const lines = largest.map(
    ([owner, time]) => `  ${((time / worked) * 100).toFixed(1).padStart(5)} %  ${owner}`,
  );
  process.stdout.write(`profile of ${name}:\n${lines.join("\n")}\n`);
}

/** Who runs a function: a package, a room of ours, a module of Node, or the engine. */
function ownerOf({ functionName, url }: ProfileNode["callFrame"]): string {
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (dependency) return dependency;
  if (url.includes("/.next/")) return "our server as Next bundled it, with a part of Next";
  const room = /\/dist\/(server\/[^/]+|[^/]+)/.exec(url)?.[1];
  if (room) return `our ${room}`;
  if (url.startsWith("node:")) return url.replace("internal/", "").split("/").slice(0, 2).join("/");
  return functionName.startsWith("(") ? functionName : `native ${functionName}`;
}

interface Inspector {
  call(method: string): Promise<unknown>;
  /** A process waits for the end of its inspector's connections before it exits. */
  close(): void;
}

async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector at ${address}`)));
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let calls = 0;
  return {
    call(method) {
      calls += 1;
      socket.send(JSON.stringify({ id: calls, method }));
      return new Promise((resolve) => waiting.set(calls, resolve));
    },
    close: () => socket.close(),
  };
}
