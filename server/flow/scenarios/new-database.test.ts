import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, people } from "../../testing/people.ts";
import { explainedQueries, explainQueries, nodesOf } from "../../testing/query-plans.ts";

/**
 * A plan that is made while PostgreSQL has no statistics of a table stays prepared until it has them. In a service that
 * has just begun it must not read all flows for one.
 */

const runtime = await runtimeForTests();
const { connectionString = "" } = runtime.database.write.$client.options;
const database = connectionString.replace(/^.*\//, "");
await explainQueries(database);

const { begin, register } = people();

/** The scans of a table in all statements so far: the index, and the columns that its rows are found by. */
const scansOf = (table: string) => {
  const scans = explainedQueries(database)
    .flatMap(({ plan }) => nodesOf(plan))
    .filter((node) => node["Relation Name"] === table && node["Node Type"].endsWith("Scan"))
    .map((node) => `${node["Index Name"] ?? node["Node Type"]}: ${columnsOf(node["Index Cond"])}`);
  return [...new Set(scans)].sort();
};

const columnsOf = (condition = "") => (condition.match(/\b[a-z_]+(?= (=|<|>|<=|>=) )/g) ?? []).join(" ");

test("a login of a new service finds its flow and its counters by their keys", async () => {
  const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
  const { email } = await register(limited);
  const flow = await begin(limited, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(limited, email) });
  expect(flow.state.name).toEqual("success");
  expect(scansOf("flows")).toEqual(["flows_tenant_id_id_pk: tenant_id id"]);
  expect(scansOf("rate_counters")).toEqual(["rate_counters_tenant_id_key_pk: tenant_id key"]);
  expect(scansOf("failures")).toEqual([
    "failures_tenant_id_method_subject_source_pk: tenant_id method subject",
    "failures_tenant_id_method_subject_source_pk: tenant_id method subject source",
  ]);
});
