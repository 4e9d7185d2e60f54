"use client";

import { Anchor, Badge, Stack, Text, Title } from "@mantine/core";
import Link from "next/link";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Unlisted = AdminOperations["listUnlistedOpenidClients"]["answer"]["items"][number];

/** The applications that describe themselves: by a document at their address, or by registering. */
export function UnlistedApplications() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const listed = usePagedList((page) => trpc.listUnlistedOpenidClients.queryOptions({ tenant, query: page }));
  const columns: Column<Unlisted>[] = [
    {
      id: "name",
      header: words.applications.name,
      cell: ({ row: { original } }) => (
        <Stack gap={0} align="flex-start" miw={180}>
          <Text size="sm">{original.name || words.applications.unnamed}</Text>
          {original.id === null ? (
            <Text size="xs" c="dimmed">
              {words.applications.unknownId}
            </Text>
          ) : (
            <Anchor
              component={Link}
              size="xs"
              href={pathOf(`applications/${encodeURIComponent(original.id)}`)}
              style={{ overflowWrap: "anywhere" }}
            >
              {original.id}
            </Anchor>
          )}
        </Stack>
      ),
    },
    {
      id: "origin",
      header: words.applications.origin,
      cell: ({ row }) => (
        <Badge variant="light" color="gray">
          {words.applications.origins[row.original.origin]}
        </Badge>
      ),
    },
    {
      id: "redirects",
      header: words.applications.redirects,
      cell: ({ row }) => (
        <Text size="sm" style={{ overflowWrap: "anywhere" }} miw={180}>
          {row.original.redirect_uris.join(", ")}
        </Text>
      ),
    },
    {
      id: "known",
      header: words.applications.known,
      cell: ({ row }) => <Moment at={row.original.created_at} />,
    },
    {
      id: "forgotten",
      header: words.applications.forgotten,
      cell: ({ row }) => <Moment at={row.original.expires_at} />,
    },
  ];
  return (
    <Stack gap="sm">
      <div>
        <Title order={2} size="h4">
          {words.applications.unlisted}
        </Title>
        <Text size="sm" c="dimmed">
          {words.applications.unlistedSentence}
        </Text>
      </div>
      <DataTable
        label={words.applications.unlisted}
        {...listed}
        columns={columns}
        idOf={({ id, name, created_at }) => id ?? `${created_at} ${name}`}
        empty={
          <Empty
            title={words.applications.unlistedEmpty}
            sentence={words.applications.unlistedEmptySentence}
          />
        }
      />
    </Stack>
  );
}
