import { afterAll, beforeAll, expect, test } from "vitest";
import { codeFor, people } from "../../testing/people.ts";
import { explainedQueries, explainQueries, nodesOf } from "../../testing/query-plans.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";

/**
 * A plan that is made while PostgreSQL has no statistics of a table stays prepared until it has them. In a service that
 * has just begun it must not read all flows for one.
 */

let runtime: TestRuntime;
let database: string;

beforeAll(async () => {
  runtime = await testRuntime();
  const { connectionString = "" } = runtime.database.write.$client.options;
  database = connectionString.replace(/^.*\//, "");
  await explainQueries(database);
});
afterAll(() => runtime.close());

const { begin, register } = people();

test("a login of a new service finds its flow by its id", async () => {
  const { email } = await register(runtime);
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  expect(flow.state.name).toEqual("success");
  const scans = explainedQueries(database)
    .flatMap(({ plan }) => nodesOf(plan))
    .filter((node) => node["Relation Name"] === "flows" && node["Node Type"].endsWith("Scan"));
  expect([...new Set(scans.map((scan) => scan["Index Name"]))]).toEqual(["flows_tenant_id_id_pk"]);
});
