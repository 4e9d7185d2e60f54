import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isInstalled, packageOf } from "../../scripts/test-programs.ts";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import {
  beginAll,
  complete,
  describeWalk,
  finish,
  newPerson,
  passOverCodes,
  type Walk,
} from "../testing/journeys/journey.ts";
import { byPassword } from "../testing/journeys/logins.ts";
import { registrations } from "../testing/journeys/registrations.ts";
import { type WalkedServer, walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { type PatroniCluster, startPatroniCluster } from "../testing/patroni/patroni-cluster.ts";

const programs = ["patroni", "etcd"] as const;
const missing = programs.filter((name) => !isInstalled(name)).map(packageOf);
const reason =
  missing.length === 0
    ? ""
    : `, skipped: ${programs.join(" or ")} is not installed (apt-get install ${missing.join(" ")})`;

describe.skipIf(missing.length > 0)(`over Patroni${reason}`, () => {
  let cluster: PatroniCluster;
  let walked: WalkedServer;

  beforeAll(async () => {
    cluster = await startPatroniCluster();
    walked = await walkJourneys(cluster);
  });

  afterAll(async () => {
    await walked?.stop();
    await cluster?.stop();
  });

  test("every journey is walked to its end", () => {
    expect(walked.performed).toBeGreaterThan(100);
    expect(walked.server.logs()).not.toMatch(/"level":"error"/);
  });

  test("registrations that a switch-over meets are completed after it, in whatever state they stand, by the same process", async () => {
    const { server, fixtures, query } = walked;
    const hasAccount = async ({ person }: Walk) =>
      (await query("select from emails where address = $1 and user_id is not null", [person.email]))
        .length === 1;
    const { pid } = server;
    const standing = await beginAll(registrations, server, fixtures);
    let isOver = false;
    const switchOver = cluster.switchOver().finally(() => {
      isOver = true;
    });
    const statuses = new Set<number>();
    const registered: Walk[] = [];
    const unanswered: Walk[] = [];
    while (!isOver) {
      const walk = await register(walked, statuses);
      (walk.client.state.name === "success" ? registered : unanswered).push(walk);
    }
    await switchOver;
    expect([...statuses].filter((status) => ![200, 403, 503].includes(status))).toEqual([]);
    // One step at a time is under way, so one at most was written whose answer the switch-over has taken away.
    expect(unanswered.length).toBeLessThanOrEqual(1);
    for (const walk of unanswered) {
      if (await hasAccount(walk)) await complete(byPassword, walk);
      else await registerAgain(walk);
      registered.push(walk);
    }
    for (const walk of standing) {
      await finish(walk);
      expect([describeWalk(walk), walk.client.state.name]).toEqual([describeWalk(walk), "success"]);
    }
    for (const walk of [...registered, ...standing]) {
      const { client } = walk;
      expect(client.state.name).toBe("success");
      expect(await hasAccount(walk)).toBe(true);
      const session = await client.request("/sessions/validate");
      expect(await session.json()).toMatchObject({ is_valid: true });
    }
    expect(server.pid).toBe(pid);
    expect(server.logs()).toContain("the database has another primary");
  });
});

/** Registers from the beginning, with the address of a registration that stopped somewhere. */
async function registerAgain(walk: Walk): Promise<void> {
  const { journey, person, fixtures } = walk;
  // A code of that registration, which may be on its way, verifies nothing in this one.
  await eventually(async () => {
    const waiting =
      "select from pgboss.job where name = 'send_mail' and state in ('created', 'retry', 'active')";
    expect(await fixtures.query(waiting, [])).toEqual([]);
  });
  await passOverCodes(person, fixtures);
  await complete(journey, walk);
}

/**
 * Registers as a client does that sends a step again after an answer of 503: until it succeeds, or 403 says that the step was
 * performed, whose answer was lost.
 */
async function register(
  { server, fixtures }: Pick<WalkedServer, "server" | "fixtures">,
  statuses: Set<number>,
): Promise<Walk> {
  const [journey] = registrations;
  if (!journey) throw new Error("there is no journey of a registration");
  const walk: Walk = { journey, client: flowClient(server.url), person: newPerson(), fixtures, steps: 0 };
  const { client } = walk;
  const send = async (request: () => Promise<unknown>) => {
    do {
      await request();
      statuses.add(client.last.status);
    } while (client.last.status === 503);
  };
  await send(() => client.start("registration"));
  while (client.state.name !== "success") {
    const { state } = client;
    const act = journey.acts[state.name];
    if (!act) throw new Error(`a registration ended in ${state.name}`);
    const [action, input] = await act({ ...walk, state });
    let wasSentBefore = false;
    await send(() => {
      wasSentBefore = client.last.status === 503;
      return client.act(action, input ?? {});
    });
    if (client.last.status === 403 && wasSentBefore) return walk;
  }
  return walk;
}
