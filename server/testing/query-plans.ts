import { readFileSync } from "node:fs";
import { inject } from "vitest";
import { withClient } from "./postgres-cluster.ts";

/** A node of a plan, as `explain (format json)` shows it. */
export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  Alias?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  Filter?: string;
  "Plan Rows": number;
  "Total Cost": number;
  Plans?: PlanNode[];
}

/** A statement that PostgreSQL ran, with its plan. */
export interface ExplainedQuery {
  text: string;
  plan: PlanNode;
}

/**
 * Makes PostgreSQL log the plan of each statement that new connections of a database run, also of those that foreign
 * keys and functions run. A statement with parameters is planned once for all values, as a prepared one is in the end.
 */
export async function explainQueries(database: string): Promise<void> {
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_format": "json",
    "auto_explain.log_nested_statements": "on",
    plan_cache_mode: "force_generic_plan",
  };
  await withClient(inject("postgres").adminUrl, async (client) => {
    for (const [name, value] of Object.entries(settings))
      await client.query(`alter database ${database} set ${name} = '${value}'`);
  });
}

/** The statements that were explained in a database so far, each once. */
export function explainedQueries(database: string): ExplainedQuery[] {
  const entry = new RegExp(`^\\S+ \\S+ \\S+ \\[\\d+\\] ${database} LOG: .* plan:\\n((?:\\t.*\\n)+)`, "gm");
  const found = new Map<string, ExplainedQuery>();
  for (const [, json = ""] of readFileSync(inject("postgres").logFile, "utf8").matchAll(entry)) {
    const { "Query Text": text, Plan: plan } = JSON.parse(json) as { "Query Text": string; Plan: PlanNode };
    found.set(`${text} ${JSON.stringify(shapeOf(plan))}`, { text, plan });
  }
  return [...found.values()];
}

/** The nodes of a plan, the root first. */
export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

const shapeOf = (plan: PlanNode) => nodesOf(plan).map((node) => [node["Node Type"], node["Index Name"]]);
