import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../server/testing/eventually.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { type PostgresPair, startPostgresPair } from "../server/testing/postgres-pair.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { signUp } from "../server/testing/sign-up.ts";
import { runStile } from "../server/testing/stile.ts";
import { balanced, balancerObstacle } from "./balanced.ts";
import {
  type Drill,
  type Drills,
  drill,
  type Findings,
  MAY_INTERRUPT,
  type Place,
  type Surroundings,
} from "./drill.ts";
import { cookiesOf, password, signIn } from "./load.ts";

interface WithReplica extends Surroundings {
  pair: PostgresPair;
}

/** Two servers over a primary, which read at its standby. */
async function withReplica(): Promise<WithReplica> {
  const pair = await startPostgresPair({ isSynchronous: false });
  const { env, ...around } = await balanced(pair.urls[0]);
  return {
    ...around,
    pair,
    env: { ...env, STILE_DATABASE_REPLICAS: pair.urls[1] },
    close: () => pair.stop(),
  };
}

const observer = "observer@example.com";

/** Time between two rounds of questions. */
const BETWEEN_ROUNDS_MS = 200;

/** How long the replica is asked before the harm and after it. */
const ASKED_MS = 4_000;

/** Questions whose answers a replica must not make older than they are. */
interface Observer {
  /** Lets it ask for a while more, and returns what it has found. */
  end(): Promise<Findings>;
}

/**
 * Changes a user at one server and asks the others for it, and ends sessions at one server and shows them to all, until it is
 * ended.
 */
async function observe({ servers, server }: Place): Promise<Observer> {
  const start = { cwd: server.folder, env: server.environment };
  const key = (await runStile(["keys", "create", "--interface", "admin"], start)).out.trim();
  const authorization = `Bearer ${key}`;
  const client = flowClient(server.url);
  await signUp(client, { email: observer, password });
  const cookie = cookiesOf(client);
  const failures = new Map<string, number>();
  const found = { changes: 0, ended: 0, stale: 0, accepted: 0 };

  /** Returns the body of an answer; null if there is none that is one of these. */
  async function ask<Body>(
    { url }: RunningServer,
    path: string,
    init: RequestInit = {},
  ): Promise<Body | null> {
    const failed = (what: string) => {
      const name = `${init.method ?? "GET"} ${path.split("?")[0]}: ${what}`.replace(id, "{id}");
      failures.set(name, (failures.get(name) ?? 0) + 1);
      return null;
    };
    try {
      const answer = await fetch(`${url}${path}`, init);
      const text = await answer.text();
      if (!answer.ok) return failed(String(answer.status));
      return (text === "" ? {} : JSON.parse(text)) as Body;
    } catch (error) {
      return failed((error as Error).message);
    }
  }
  let id = "";
  id = (await ask<{ user_id: string }>(server, "/me", { headers: { cookie } }))?.user_id ?? "";

  async function change(at: RunningServer, name: string): Promise<void> {
    const written = await ask(at, `/admin/users/${id}`, {
      method: "PATCH",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
    if (written === null) return;
    found.changes += 1;
    await Promise.all(
      servers.map(async (one) => {
        const list = await ask<{ name?: string }[]>(one, `/admin/users?q=${observer}`, {
          headers: { authorization },
        });
        const own = await ask<{ name?: string }>(one, "/me", { headers: { cookie } });
        if (list && !list.some((user) => user.name === name)) found.stale += 1;
        if (own && own.name !== name) found.stale += 1;
      }),
    );
  }

  async function endSession(at: RunningServer): Promise<void> {
    const session = await signIn(at.url, observer).catch(() => null);
    if (session === null) return;
    const headers = { cookie: cookiesOf(session) };
    if ((await ask(at, "/logout", { method: "POST", headers })) === null) return;
    found.ended += 1;
    await Promise.all(
      servers.map(async (one) => {
        const check = await ask<{ is_valid: boolean }>(one, "/sessions/validate", { headers });
        const own = await fetch(`${one.url}/me`, { headers });
        if (check?.is_valid || own.status === 200) found.accepted += 1;
      }),
    );
  }

  let isEnding = false;
  const loop = (async () => {
    for (let round = 0; !isEnding; round += 1) {
      const at = servers[round % servers.length] ?? server;
      await change(at, `Name ${round}`);
      await endSession(at);
      await pause(BETWEEN_ROUNDS_MS);
    }
  })();
  return {
    async end() {
      isEnding = true;
      await loop;
      const { changes, ended, stale, accepted } = found;
      return {
        notes: [`${changes} changes were looked for at each server, and ${ended} sessions that had ended`],
        faults: [
          ...(stale > 0 ? [`${stale} answers were older than the change before them`] : []),
          ...(accepted > 0 ? [`${accepted} times a session was accepted that had ended`] : []),
          ...(changes === 0 || ended === 0 ? ["nothing was asked"] : []),
          ...[...failures].map(([name, times]) => `${name}, ${times} times`),
        ],
      };
    },
  };
}

interface Harm {
  done: string;
  log: RegExp;
  harm(pair: PostgresPair): void | Promise<void>;
  mend(pair: PostgresPair): void | Promise<void>;
}

/** Harms the replica until its alert has fired, and mends it, while lists and sessions are asked for. */
const lostReplica = ({ done, log, harm, mend }: Harm): Drill =>
  drill<WithReplica>({
    done,
    alert: "StileReplicaUnused",
    log,
    mayMissMs: 5_000,
    mayInterrupt: MAY_INTERRUPT,
    obstacle: balancerObstacle,
    surround: withReplica,
    async harm(_, { pair }, place): Promise<Findings> {
      /** Waits until more reads than a number were done at the replica, and returns how many were. */
      const readsBeyond = (count: number) =>
        eventually(async () => {
          const reads = await place.metric(
            'sum(stile_database_replica_reads_total{stile_outcome="replica"})',
          );
          // There is no number after a scrape that failed.
          if (!(reads > count)) throw new Error(`nothing is read at the replica: ${reads} reads`);
          return reads;
        });
      const isUsed = (by: number) =>
        eventually(async () => {
          const used = await place.metric(`${by === 0 ? "max" : "min"}(stile_database_replica_used_ratio)`);
          if (used !== by) throw new Error(`the replica is ${by === 0 ? "" : "not "}used`);
        });
      await isUsed(1);
      const observer = await observe(place);
      await pause(ASKED_MS);
      const before = await readsBeyond(0);
      await harm(pair);
      await isUsed(0);
      await eventually(async () => {
        if (!(await place.alerts()).includes("StileReplicaUnused")) throw new Error("no alert has fired");
      });
      const during = await readsBeyond(before - 1);
      await mend(pair);
      await isUsed(1);
      await pause(ASKED_MS);
      const after = await readsBeyond(during);
      const { notes = [], faults = [] } = await observer.end();
      return {
        notes: [...notes, `read at the replica: ${before} times before, ${after - during} after`],
        faults,
      };
    },
  });

/** A standby that serves reads is lost, or falls behind. */
export const replicaDrills: Drills = {
  "replica-killed": lostReplica({
    done: "the replica of two servers is killed (kill -9), and started again",
    log: /a replica is not used: it does not answer/,
    harm: (pair) => pair.killStandby(),
    mend: (pair) => pair.restartStandby(),
  }),
  "replica-hanging": lostReplica({
    done: "the replica of two servers hangs (SIGSTOP), and goes on",
    log: /a replica is not used: it does not answer/,
    harm: (pair) => pair.pauseStandby(),
    mend: (pair) => pair.resumeStandby(),
  }),
  "replica-behind": lostReplica({
    done: "the replica of two servers replays nothing, and catches up",
    log: /a replica is not used: it is too far behind the primary/,
    harm: (pair) => pair.pauseReplay(),
    mend: (pair) => pair.resumeReplay(),
  }),
};
