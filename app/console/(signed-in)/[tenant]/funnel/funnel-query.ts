"use client";

import type { flowTypes } from "#server/flow/names";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { earlier, type Range, useRange } from "../../../_parts/range.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";

/** What the address says of the funnel. */

export type FunnelAnswer = AdminOperations["getFunnel"]["answer"];
export type FunnelState = FunnelAnswer["states"][number];

type Query = NonNullable<AdminOperations["getFunnel"]["input"]["query"]>;
export type Method = NonNullable<Query["method"]>;
export type FlowType = (typeof flowTypes)[number];

const filters = ["type", "platform", "browser", "embedding", "method"] as const satisfies (keyof Query)[];

/** What is asked for, and the same of an earlier period if the address compares with one. */
export interface FunnelQuery {
  range: Range;
  query: Query;
  compared: { range: Range; query: Query } | null;
}

export function useFunnelQuery(): FunnelQuery {
  const [value] = useSearchState();
  const range = useRange();
  const filter: Query = Object.fromEntries(
    filters.flatMap((name) => (value(name) ? [[name, value(name)]] : [])),
  );
  const of = (one: Range) => ({ range: one, query: { ...filter, from: one.from, to: one.to } });
  const offset = Number(value("compare"));
  return { ...of(range), compared: offset > 0 ? of(earlier(range, offset)) : null };
}
