"use client";

import { Anchor, Group, Text } from "@mantine/core";
import Link from "next/link";
import { flowTypes, stateNames } from "#server/flow/names";
import { inGroups, parseSupportNumber } from "#server/recorder/written-support-number";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { AccountLink } from "../../../_parts/account-link.tsx";
import { AccountSelect } from "../../../_parts/account-select.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { OptionField, SearchField, TimeField } from "../../../_parts/filters.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { spoken } from "../../../_parts/protocol-name.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { Outcome } from "./outcome.tsx";

type Flow = AdminOperations["listFlows"]["answer"]["items"][number];
type Filter = NonNullable<AdminOperations["listFlows"]["input"]["query"]>;

const SIZE = 50;

const named = (names: readonly string[]) => names.map((name) => ({ value: name, label: spoken(name) }));

const options = {
  outcomes: Object.entries(words.signIns.outcomes).map(([value, label]) => ({ value, label })),
  types: named(flowTypes),
  states: named(stateNames),
};

/** The filter of each member of the address. */
const members = {
  number: "support_number",
  user: "user_id",
  state: "state",
  outcome: "outcome",
  type: "type",
  request: "request_id",
  since: "since",
  until: "until",
} as const satisfies Record<string, keyof Filter>;

/** Recorded flows, found by what an operator knows of one. */
export function SignIns() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const [value, change] = useSearchState();
  const filter: Filter = Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => (value(name) ? [[member, value(name)]] : [])),
  );
  const listed = usePagedList(
    (page) => trpc.listFlows.queryOptions({ tenant, query: { ...filter, ...page } }),
    { size: SIZE },
  );
  const hrefOf = ({ id }: Flow) => pathOf(`sign-ins/${id}`);
  const columns: Column<Flow>[] = [
    {
      id: "number",
      header: words.signIns.number,
      cell: ({ row: { original } }) => (
        <Anchor
          component={Link}
          size="sm"
          ff="monospace"
          href={hrefOf(original)}
          style={{ whiteSpace: "nowrap" }}
        >
          {inGroups(original.support_number)}
        </Anchor>
      ),
    },
    {
      id: "started",
      header: words.signIns.started,
      cell: ({ row }) => <Moment at={row.original.started_at} />,
    },
    {
      id: "outcome",
      header: words.signIns.outcome,
      cell: ({ row }) => <Outcome outcome={row.original.outcome} />,
    },
    {
      id: "state",
      header: words.signIns.state,
      cell: ({ row: { original } }) => <Text size="sm">{original.state && spoken(original.state)}</Text>,
    },
    {
      id: "type",
      header: words.signIns.type,
      cell: ({ row }) => <Text size="sm">{spoken(row.original.type)}</Text>,
    },
    { id: "steps", header: words.signIns.steps, cell: ({ row }) => row.original.steps },
    {
      id: "user",
      header: words.signIns.user,
      cell: ({ row: { original } }) =>
        original.user_id ? (
          <AccountLink id={original.user_id} isReached={original.user_exists} />
        ) : (
          <Text size="sm" c="dimmed">
            {words.signIns.unknownUser}
          </Text>
        ),
    },
  ];
  return (
    <>
      <PageHead title={words.pages.sign_ins} sentence={words.signIns.sentence} />
      <Group gap="sm" align="flex-start">
        <SearchField
          name="number"
          label={words.signIns.number}
          placeholder={words.signIns.numberHint}
          accept={parseSupportNumber}
          hint={words.signIns.numberWrong}
          width={230}
        />
        {may("listUsers") && (
          <AccountSelect
            label={words.signIns.user}
            value={value("user") || null}
            onChange={(id) => change({ user: id ?? "" })}
            clearable
            w={{ base: "100%", sm: 230 }}
          />
        )}
        <OptionField
          name="outcome"
          label={words.signIns.outcome}
          options={options.outcomes}
          all={words.signIns.all}
          width={150}
        />
        <OptionField
          name="type"
          label={words.signIns.type}
          options={options.types}
          all={words.signIns.all}
          width={150}
        />
        <OptionField
          name="state"
          label={words.signIns.state}
          options={options.states}
          all={words.signIns.all}
          width={220}
        />
        <TimeField name="since" label={words.signIns.since} width={220} />
        <TimeField name="until" label={words.signIns.until} width={220} />
        <SearchField name="request" label={words.signIns.request} width={230} />
      </Group>
      <DataTable
        label={words.pages.sign_ins}
        {...listed}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={hrefOf}
        empty={<Empty title={words.signIns.empty} sentence={words.signIns.emptySentence} />}
      />
    </>
  );
}
