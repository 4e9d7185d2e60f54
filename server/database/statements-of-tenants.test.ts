import { randomUUID } from "node:crypto";
import { expect, inject, it } from "vitest";
import { walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { explainedQueries, explainQueries, nodesOf, type PlanNode } from "../testing/query-plans.ts";
import { placements } from "./distribute.ts";

/** Statements of no tenant: of processes, which look for work or end what is over. */
const ofAllTenants: readonly RegExp[] = [
  // Names of sealing keys, at the start.
  /^\s*select encode\(substring\(/,
  // Claims of processes that have ended.
  /^\s*update flows set claim = '0{8}-/,
  // A fixture of the journeys.
  /^update sessions s set authenticated_at/,
  // Jobs that a restored backup of a distributed database had.
  /from new_jobs\s+where name = any \(\$\d+::text\[\]\) and true limit/,
  // Work that is due. A distributed database has others (`isDistributed`).
  /recursive heads as/,
];

const conditionsOf = (node: PlanNode) =>
  [node["Index Cond"], node["Recheck Cond"], node.Filter].filter((text) => text !== undefined).join(" ");

const namesTenant = /\(tenant_id = (\(?\$\d+\)?(::uuid)?|'[0-9a-f-]{36}'::uuid)\)|\(\$\d+ = tenant_id\)/;

/** Tables with tenants that a plan reads without naming the tenant of each. */
const unnamed = (plan: PlanNode) =>
  nodesOf(plan).flatMap((node) => {
    const { "Relation Name": table } = node;
    if (table === undefined || placements.get(table) !== "with_tenant") return [];
    // The rows are found by another node, below or beside it.
    if (!node["Node Type"].endsWith("Scan") || node["Node Type"] === "Bitmap Index Scan") return [];
    return namesTenant.test(conditionsOf(node)) ? [] : [`${table}: ${conditionsOf(node)}`];
  });

it("every statement of the journeys of users names the tenant of each table", async () => {
  const { adminUrl, ownerUrl, template } = inject("postgres");
  const name = `tenants_${randomUUID().replaceAll("-", "")}`;
  await withClient(adminUrl, (client) =>
    client.query(`create database ${name} template ${template} owner stile`),
  );
  await explainQueries(name);
  const walked = await walkJourneys({ url: ownerUrl.replace(/[^/]+$/, name) });
  await walked.stop();
  const statements = explainedQueries(name).filter(({ text }) => !ofAllTenants.some((one) => one.test(text)));
  expect(statements.length).toBeGreaterThan(100);
  const found = statements.flatMap(({ text, plan }) => {
    const tables = unnamed(plan);
    return tables.length > 0 ? [{ text: text.slice(0, 300), tables }] : [];
  });
  expect(found).toEqual([]);
});
