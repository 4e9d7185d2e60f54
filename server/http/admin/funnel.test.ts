import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { schema } from "#db/client";
import { createCounters } from "../../funnel/counters.ts";
import { HOUR_MS } from "../../funnel/measures.ts";
import { MAX_ROWS } from "../../funnel/write-counts.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { chooseMethod, mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";
const application = "https://app.example.net";

const settings = {
  STILE_CORS_ALLOW_ORIGINS: application,
  STILE_EMBED_ORIGINS: "https://shop.localhost",
};

/** A browser that names itself in each request. */
function browserOf(runtime: TestRuntime, userAgent: string): Visitor {
  const one = visitor(runtime);
  const named = (headers: Record<string, string> = {}) => ({ "user-agent": userAgent, ...headers });
  return {
    ...one,
    post: (path, body, headers) => one.post(path, body, named(headers)),
    mutate: (procedure, input, headers) => one.mutate(procedure, input, named(headers)),
  };
}

/** What an operator reads, with what this process has counted. */
async function reader(runtime: TestRuntime) {
  const operator = await adminOperator(runtime);
  return async (query: string) => {
    await runtime.counters.flush();
    const { status, body } = await operator.call("GET", `/${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };
}

interface State {
  state: string;
  median_ms: number | null;
}

/** A point of a series. */
interface Point {
  value: string;
  entered: number;
  given_up: number;
  failed: number;
}

const stateIn = (funnel: { states: State[] }, name: string) =>
  funnel.states.find(({ state }) => state === name);

/** Begins a login, and enters an identifier. */
async function identified(runtime: TestRuntime, email: string, userAgent = windows) {
  const walk = await restWalk(runtime, "login", browserOf(runtime, userAgent));
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  return walk;
}

describe("the funnel", () => {
  test("tells how each state was left, what failed, and on which platform users give up", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const email = `${randomUUID()}@example.com`;
    await restRegistration(runtime, email);
    const signedIn = await identified(runtime, email);
    await chooseMethod(signedIn, "continue_to_password_login");
    await signedIn.act("password_login", { password: "wrong" });
    runtime.advanceClock(20);
    await signedIn.act("password_login", { password });
    expect(signedIn.state.name).toBe("success");
    for (let each = 0; each < 2; each += 1) {
      const left = await identified(runtime, email, iphone);
      await chooseMethod(left, "continue_to_password_login");
    }
    // The end of their flows, and of the hour in which they may have begun.
    const during = await read("funnel");
    expect(stateIn(during, "login_password")).toMatchObject({ entered: 3, left: 1, given_up: 0, open: 2 });
    runtime.advanceClock(2 * 3600 + 60);
    const after = await read("funnel");
    expect(Date.parse(after.to) - Date.parse(after.from)).toBe(86_400_000);
    expect(stateIn(after, "login_password")).toEqual({
      state: "login_password",
      entered: 3,
      left: 1,
      given_up: 2,
      open: 0,
      median_ms: expect.any(Number),
      p95_ms: expect.any(Number),
      errors: [{ error: "value_invalid_error", reason: "wrong", count: 1 }],
    });
    const median = stateIn(after, "login_password")?.median_ms ?? 0;
    // Within a bucket.
    expect(median).toBeGreaterThan(20_000 / 1.6);
    expect(median).toBeLessThan(20_000 * 1.6);
    expect(stateIn(after, "success")).toMatchObject({ entered: 1, given_up: 0, open: 0 });
    expect(after.edges).toContainEqual({
      from: "login_password",
      action: "password_login",
      to: "success",
      count: 1,
    });
    expect(after.edges).toContainEqual({
      from: "login_init",
      action: "continue_with_login_identifier",
      to: "login_method_chooser",
      count: 3,
    });
    // On which platform?
    const onPhones = await read("funnel?platform=iPhone");
    expect(stateIn(onPhones, "login_password")).toMatchObject({ entered: 2, left: 0, given_up: 2 });
    expect(stateIn(await read("funnel?browser=Firefox"), "login_password")).toMatchObject({ given_up: 0 });
    expect(stateIn(await read("funnel?method=passcode"), "login_password")).toBeUndefined();
    expect(stateIn(await read("funnel?method=password"), "login_password")).toMatchObject({ entered: 3 });
    // Since when?
    const series = await read("funnel/series?state=login_password&by=platform");
    expect(series.points.map(({ value, given_up }: Point) => [value, given_up])).toEqual([
      ["Windows", 0],
      ["iPhone", 2],
    ]);
    expect(Date.parse(series.points[0].at) % 3_600_000).toBe(0);
    const byDay = await read("funnel/series?state=login_password&by=method&step=day");
    expect(byDay.points.map(({ value, entered, failed }: Point) => [value, entered, failed])).toContainEqual([
      "password",
      3,
      1,
    ]);
    const registrations = await read("funnel?type=registration");
    expect(stateIn(registrations, "success")).toMatchObject({ entered: 1 });
  });

  test("counts a user who leaves a state in a later hour in the hour in which they entered it", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    // In the middle of an hour.
    runtime.advanceClock(1_800);
    const walk = await identified(runtime, `${randomUUID()}@example.com`);
    runtime.advanceClock(3_000);
    await chooseMethod(walk, "continue_to_password_login");
    runtime.advanceClock(3 * 3600);
    const { points } = await read("funnel/series?state=login_method_chooser&by=browser");
    expect(points).toEqual([
      {
        at: expect.any(String),
        value: "Firefox",
        entered: 1,
        left: 1,
        given_up: 0,
        open: 0,
        failed: 0,
      },
    ]);
  });

  test("tells our page, a frame of it, an element in another page, and clients of the interface apart", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const start = { type: "login", capabilities: {} };
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWb5kvK4GLPNs";
    const page = browserOf(runtime, windows);
    const answers = [
      await page.mutate("flow.start", start),
      await browserOf(runtime, windows).mutate("flow.start", start, {
        "x-stile-frame": `origin=https://shop.localhost&code_challenge=${challenge}`,
      }),
      await browserOf(runtime, windows).mutate("flow.start", start, {
        origin: application,
        "sec-fetch-site": "cross-site",
      }),
      await browserOf(runtime, windows).post("/login", {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { points } = await read("funnel/series?state=login_init&by=embedding");
    const { points: started } = await read("funnel/series?state=preflight&by=embedding");
    const entered: Point[] = [...points, ...started];
    expect(Object.fromEntries(entered.map(({ value, entered }) => [value, entered]))).toEqual({
      client: 1,
      element: 1,
      frame: 1,
      page: 1,
    });
    expect(stateIn(await read("funnel?embedding=frame"), "login_init")).toMatchObject({ entered: 1 });
  });

  test("compares two periods by two calls", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const now = Date.now() + runtime.platform.clockShift();
    await identified(runtime, `${randomUUID()}@example.com`);
    runtime.advanceClock(2 * 86_400);
    for (let each = 0; each < 2; each += 1) await identified(runtime, `${randomUUID()}@example.com`);
    const at = (days: number) => encodeURIComponent(new Date(now + days * 86_400_000).toISOString());
    const [former, later] = [
      await read(`funnel?from=${at(-0.5)}&to=${at(1)}`),
      await read(`funnel?from=${at(1.5)}&to=${at(3)}`),
    ];
    expect(stateIn(former, "login_init")).toMatchObject({ entered: 1 });
    expect(stateIn(later, "login_init")).toMatchObject({ entered: 2 });
  });

  test("counts what two processes count together", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const second = createCounters(runtime);
    const one = { measure: "entered", flowType: "login", state: "login_init", at: Date.now() } as const;
    for (const counters of [runtime.counters, second, second]) counters.count(runtime.tenant.id, one);
    await Promise.all([runtime.counters.flush(), second.flush()]);
    expect(stateIn(await read("funnel"), "login_init")).toMatchObject({ entered: 3 });
  });

  test("deletes counts after `funnel.retention`", async () => {
    const runtime = await runtimeOfTest({ STILE_FUNNEL_RETENTION: "2d" });
    const one = { measure: "entered", flowType: "login", state: "login_init" } as const;
    for (const days of [0, 1, 3, 4])
      runtime.counters.count(runtime.tenant.id, { ...one, at: Date.now() - days * 86_400_000 });
    await runtime.counters.flush();
    expect(await runtime.purgeExpired()).toBe(2);
    expect(await runtime.database.read.select().from(schema.funnelCounts)).toHaveLength(2);
  });
});

/** A runtime whose clock and counts no other test changes. */
async function runtimeOfTest(more: Record<string, string> = {}): Promise<TestRuntime> {
  const made = await testRuntime({ ...settings, ...more });
  onTestFinished(() => made.close());
  // At the start of an hour, so that the test does not run into the next one.
  made.advanceClock((HOUR_MS - (Date.now() % HOUR_MS)) / 1000);
  return made;
}

describe("bad input", () => {
  test("A310 1 000 made-up user agents, methods and errors make no more rows than an hour gets", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const email = `${randomUUID()}@example.com`;
    for (let each = 0; each < 40; each += 1) {
      const agent = `Browser${each}/1.0 (${randomUUID()}; ${["Windows", "Android", "CrOS", "x"][each % 4]}) ${["Edg/1", "OPR/1", "Firefox/1", ""][(each >> 2) % 4]}`;
      const walk = await identified(runtime, email, agent);
      await walk.act(`action-${randomUUID()}`).catch(() => {});
      await walk.visitor.post(`/login?action=made_up_${each}@${randomUUID()}`, {
        csrf_token: "x",
        input_data: {},
      });
    }
    await runtime.counters.flush();
    const walked = await runtime.database.read.select().from(schema.funnelCounts);
    const named = (column: (row: (typeof walked)[number]) => string) => new Set(walked.map(column));
    expect([...named(({ platform }) => platform)].toSorted()).toEqual([
      "Android",
      "ChromeOS",
      "Windows",
      "other",
    ]);
    expect([...named(({ browser }) => browser)].filter((one) => /Browser\d/.test(one))).toEqual([]);
    expect([...named(({ name }) => name)].filter((one) => one.startsWith("made_up"))).toEqual([]);
    // Whatever else might name them: the table itself has a bound.
    for (let each = 0; each < 3_000; each += 1)
      runtime.counters.count(runtime.tenant.id, {
        measure: "failed",
        flowType: "login",
        state: "login_init",
        name: `error-${each % 1_500}`,
        target: "wrong",
        method: `method-${each}`,
        client: { platform: `platform-${each}`, browser: `browser-${each}`, embedding: "client" },
        at: Date.now() + runtime.platform.clockShift(),
      });
    await runtime.counters.flush();
    const rows = await runtime.database.read.select().from(schema.funnelCounts);
    // One row more for each measure.
    expect(rows.length).toBeGreaterThan(MAX_ROWS - 100);
    expect(rows.length).toBeLessThanOrEqual(MAX_ROWS + 8);
    const counted = rows.filter(({ measure }) => measure === "failed");
    const before = walked.filter(({ measure }) => measure === "failed");
    const sum = (of: typeof rows) => of.reduce((total, { count }) => total + count, 0);
    expect(sum(counted) - sum(before)).toBe(3_000);
    expect((await read("funnel")).full_hours).toBe(1);
  });

  test.each([
    "type=made_up",
    "platform=BeOS",
    "browser=Mosaic",
    "embedding=popup",
    "method=telepathy",
    "from=yesterday",
    "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    "from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z",
    "from=0001-01-01T00:00:00Z&to=0001-01-02T00:00:00Z",
    "to=9999-12-31T23:59:59Z",
    "type=login&type=profile",
    "page=1",
    "platform=%00",
  ])("A311 rejects the query %s with 400", async (query) => {
    expect((await shared.call("GET", `/funnel?${query}`)).status).toBe(400);
  });

  test.each([
    "",
    "state=made_up",
    "state=login_init&by=tenant",
    "state=login_init&step=second",
    "state=login_init&step=day&from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
  ])("A311 rejects the query %s of a series with 400", async (query) => {
    expect((await shared.call("GET", `/funnel/series?${query}`)).status).toBe(400);
  });

  test("A312 an operator sees nothing of another tenant", async () => {
    const runtime = await runtimeOfTest();
    const other = await adminOperator(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    await identified(runtime, `${randomUUID()}@example.com`);
    await runtime.counters.flush();
    for (const path of ["funnel", "funnel/series?state=login_init", "overview"]) {
      const { status, body } = await other.call("GET", `/${path}`);
      expect(status).toBe(200);
      expect(body.states ?? body.points ?? body.current.steps).toEqual([]);
      expect((await other.callWithoutKey("GET", `/${path}`)).status).toBe(401);
    }
  });

  test("A313 a client that claims to be our page, a frame or an element is counted as what it is", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    for (const headers of [
      { "sec-fetch-site": "same-origin" },
      { "x-stile-frame": "origin=https://evil.example" },
      { "x-stile-flow": "made up" },
      { embedding: "page", "x-embedding": "page" },
    ])
      await visitor(runtime).post("/login?embedding=page", { embedding: "page" }, headers as never);
    const { points } = await read("funnel/series?state=preflight&by=embedding");
    expect(points.map(({ value, entered }: Point) => [value, entered])).toEqual([["client", 4]]);
  });

  test("A314 a table of counts that is locked or gone holds up no sign-in, and what was counted is kept", async () => {
    const runtime = await runtimeOfTest();
    const read = await reader(runtime);
    const email = `${randomUUID()}@example.com`;
    const { $client } = runtime.database.write;
    await restRegistration(runtime, email);
    await $client.query("alter table funnel_counts rename to lost_counts");
    const walk = await identified(runtime, email);
    await runtime.counters.flush();
    await chooseMethod(walk, "continue_to_passcode_confirmation");
    await walk.act("verify_passcode", { code: mailedCode(runtime, email) });
    expect(walk.state.name).toBe("success");
    await runtime.counters.flush();
    await $client.query("alter table lost_counts rename to funnel_counts");
    const funnel = await read("funnel");
    expect(stateIn(funnel, "login_init")).toMatchObject({ entered: 1, left: 1 });
    expect(stateIn(funnel, "success")).toMatchObject({ entered: 1 });
  });
});

const sharedRuntime = await runtimeForTests();
const shared = await adminOperator(sharedRuntime);
