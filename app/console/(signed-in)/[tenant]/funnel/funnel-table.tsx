"use client";

import { Anchor, Stack, Text } from "@mantine/core";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { duration } from "../../../_parts/duration.ts";
import { spoken } from "../../../_parts/protocol-name.ts";
import { words } from "../../../_words.ts";
import { givenUpShare, percent } from "./funnel-graph.ts";
import type { FunnelAnswer, FunnelState } from "./funnel-query.ts";

const errorsOf = ({ errors }: FunnelState) => errors.reduce((sum, { count }) => sum + count, 0);
const counted = (count: number) => count.toLocaleString("en");
const share = (state: FunnelState) =>
  state.given_up === 0 ? "0" : `${counted(state.given_up)} (${percent(givenUpShare(state))})`;

/** The columns of numbers, and how each is written. */
const numbers = [
  ["entered", (state: FunnelState) => counted(state.entered)],
  ["left", (state: FunnelState) => counted(state.left)],
  ["givenUp", share],
  ["open", (state: FunnelState) => counted(state.open)],
  ["median", (state: FunnelState) => duration(state.median_ms)],
  ["p95", (state: FunnelState) => duration(state.p95_ms)],
  ["errors", (state: FunnelState) => counted(errorsOf(state))],
] as const;

/** The numbers of the drawing, for reading; with those of the earlier period below each. */
export function FunnelTable({
  found: { data, ...found },
  before,
  onState,
}: {
  found: {
    data: FunnelAnswer | undefined;
    error: { message: string } | null;
    isPlaceholderData: boolean;
    refetch(): unknown;
  };
  before: FunnelAnswer | undefined;
  onState(state: string): void;
}) {
  const earlier = new Map(before?.states.map((state) => [state.state, state]));
  const columns: Column<FunnelState>[] = [
    {
      id: "state",
      header: words.funnel.state,
      cell: ({ row: { original } }) => (
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={() => onState(original.state)}
          aria-label={words.funnel.openState(spoken(original.state))}
          style={{ whiteSpace: "nowrap" }}
        >
          {spoken(original.state)}
        </Anchor>
      ),
    },
    ...numbers.map(
      ([id, write]): Column<FunnelState> => ({
        id,
        header: words.funnel[id],
        cell: ({ row: { original } }) => {
          const former = earlier.get(original.state);
          return (
            <Stack gap={0}>
              <Text size="sm" style={{ whiteSpace: "nowrap" }}>
                {write(original)}
              </Text>
              {former && (
                <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                  {words.funnel.before(write(former))}
                </Text>
              )}
            </Stack>
          );
        },
      }),
    ),
  ];
  if (data?.states.length === 0) return null;
  return (
    <Stack gap="xs">
      <DataTable
        label={words.funnel.table}
        found={{ ...found, data: data && { items: data.states, total: data.states.length } }}
        columns={columns}
        idOf={({ state }) => state}
        page={1}
        size={Math.max(1, data?.states.length ?? 1)}
        onPage={() => {}}
        empty={null}
      />
      {data?.states.some(({ open }) => open > 0) && (
        <Text size="xs" c="dimmed">
          {words.funnel.openUntil}
        </Text>
      )}
    </Stack>
  );
}
