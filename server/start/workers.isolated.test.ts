import cluster from "node:cluster";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Notice } from "../runtime.ts";
import { eventually } from "../testing/eventually.ts";
import { exitCodeOfFailure } from "./exit-code.ts";
import { startWorkers, type Workers } from "./workers.ts";

/** What the owner of a server does with the messages and the ends of its workers, which are scripted. */

const share = { databaseUrl: "", port: 3000, poolSize: 1, workers: 2 };

let workers: Workers | undefined;

beforeAll(() => {
  // Not the options of the process that runs the tests.
  cluster.setupPrimary({ exec: join(import.meta.dirname, "../testing/scripted-worker.ts"), execArgv: [] });
});
afterEach(async () => {
  await workers?.stop(10_000);
  delete process.env.SCRIPT;
});

/** Starts two workers that follow a script. */
function started(script: string) {
  process.env.SCRIPT = script;
  const [woken, notices, ended, lines]: [string[], Notice[], string[], Record<string, unknown>[]] = [
    [],
    [],
    [],
    [],
  ];
  workers = startWorkers({
    count: 2,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onWake: (of) => woken.push(of),
    onNotice: (notice) => notices.push(notice),
    onEnd: async (instanceId) => void ended.push(instanceId),
  });
  return { workers, woken, notices, ended, lines };
}

describe("the owner of workers", () => {
  it("looks for what each of them wakes", async () => {
    const { workers, woken } = started("wakes");
    expect(await workers.listening).toBe(3000);
    await workers.begin(share);
    await eventually(() =>
      expect(woken.toSorted()).toEqual(["deliveries", "deliveries", "send_mail", "send_mail"]),
    );
  });

  it("heeds what one of them tells, and passes it on to the other alone", async () => {
    const { workers, woken, notices } = started("tells");
    await workers.begin(share);
    await eventually(() => expect(woken).toHaveLength(1));
    const [{ id = "" } = {}] = notices as { id?: string }[];
    expect(notices).toEqual([{ kind: "answered", tenantId: "tenant", id }]);
    expect(woken[0]).toMatch(new RegExp(`^${id}, heard by \\d+$`));
    expect(woken[0]).not.toBe(`${id}, heard ${id}`);
  });

  it("replaces those that end soon after longer and longer pauses, and releases what they have claimed", async () => {
    const { workers, ended, lines } = started("serves");
    await workers.begin(share);
    process.env.SCRIPT = "dies";
    const [first] = Object.values(cluster.workers ?? {});
    first?.process.kill("SIGKILL");
    const pauses = () => lines.flatMap(({ pause_ms }) => (typeof pause_ms === "number" ? [pause_ms] : []));
    await eventually(() => expect(pauses().length).toBeGreaterThanOrEqual(4));
    expect(pauses().slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
    expect(new Set(ended).size).toBe(pauses().length);
  });

  it("fails to begin if one cannot serve, with its reason and its exit code", async () => {
    const { workers } = started("fails");
    const failure = await workers.begin(share).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: "it has no share" });
    expect(exitCodeOfFailure(failure)).toBe(3);
  });
});
