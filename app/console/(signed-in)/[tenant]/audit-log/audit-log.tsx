"use client";

import { Badge, Button, Code, Group, Stack, Switch, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { auditTypes } from "#server/audit/audit-types";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { AccountLink } from "../../../_parts/account-link.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { download } from "../../../_parts/download.ts";
import { OptionsField, SearchField, TimeSpanFields } from "../../../_parts/filters.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Entry = AdminOperations["listAuditLogs"]["answer"]["items"][number];
type Type = (typeof auditTypes)[number];

const SIZE = 50;
const FOLLOW_MS = 2_000;

/** What happened at the tenant: filtered by what the address says, and followed live. */
export function AuditLog() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [value] = useSearchState();
  const [isFollowing, setFollowing] = useState(false);
  const types = value("type").split(",").filter(Boolean) as Type[];
  const filter = {
    ...(value("q") ? { q: value("q") } : {}),
    ...(types.length > 0 ? { type: types } : {}),
    ...(value("from") ? { start_time: value("from") } : {}),
    ...(value("to") ? { end_time: value("to") } : {}),
    ...(value("user") ? { actor_user_id: value("user") } : {}),
  };
  const listed = usePagedList(
    (page) => trpc.listAuditLogs.queryOptions({ tenant, query: { ...filter, ...page } }),
    { size: SIZE, rereadMs: (_, page) => isFollowing && page === 1 && FOLLOW_MS },
  );
  const columns: Column<Entry>[] = [
    { id: "time", header: words.auditLog.time, cell: ({ row }) => <Moment at={row.original.created_at} /> },
    { id: "type", header: words.auditLog.type, cell: ({ row }) => <TypeBadge entry={row.original} /> },
    {
      id: "user",
      header: words.auditLog.user,
      cell: ({ row: { original } }) =>
        original.actor_user_id ? (
          <AccountLink id={original.actor_user_id} address={original.actor_email} />
        ) : null,
    },
    {
      id: "details",
      header: words.auditLog.details,
      cell: ({ row }) => <Details details={row.original.details} />,
    },
    {
      id: "source",
      header: words.auditLog.source,
      cell: ({ row }) => <Text size="sm">{row.original.meta_source_ip}</Text>,
    },
  ];
  return (
    <>
      <PageHead title={words.pages.audit_log} sentence={words.auditLog.sentence}>
        <Switch
          label={words.auditLog.follow}
          checked={isFollowing}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          onClick={() => download(tenant, "exportAuditLogs", { query: filter })}
        >
          {words.export}
        </Button>
      </PageHead>
      <Group gap="sm" align="flex-end">
        <SearchField name="q" label={words.auditLog.search} width={260} />
        <OptionsField name="type" label={words.auditLog.types} options={auditTypes} width={300} />
        <TimeSpanFields />
      </Group>
      <DataTable
        label={words.pages.audit_log}
        {...listed}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={words.auditLog.empty} sentence={words.auditLog.emptySentence} />}
      />
    </>
  );
}

function TypeBadge({ entry }: { entry: Entry }) {
  const failed = /_(failed|failure|rejected|withheld)$/.test(entry.type);
  return (
    <Badge variant="light" color={failed ? "red" : "gray"} tt="none" fw={500} radius="sm">
      {entry.type}
    </Badge>
  );
}

function Details({ details }: { details: Entry["details"] }) {
  const members = Object.entries(details);
  if (members.length === 0) return null;
  return (
    <Stack gap={2} miw={220}>
      {members.map(([name, value]) => (
        <Text key={name} size="xs" style={{ overflowWrap: "anywhere" }}>
          <Code>{name}</Code> {typeof value === "string" ? value : JSON.stringify(value)}
        </Text>
      ))}
    </Stack>
  );
}
