"use client";

import { Anchor, Group, Stack, Text } from "@mantine/core";
import Link from "next/link";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { accessColumns } from "../../../../_parts/access.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Listed = AdminOperations["listUserApplications"]["answer"]["items"][number];

/** The applications that have access to the account by OpenID Connect, and the end of it. */
export function Applications({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const listed = usePagedList((page) => trpc.listUserApplications.queryOptions({ tenant, id, query: page }));
  const end = useChange(trpc.endUserApplication.mutationOptions(), words.accesses.ended);
  const columns: Column<Listed>[] = [
    {
      id: "application",
      header: words.accesses.application,
      cell: ({ row: { original } }) => (
        <Stack gap={0} align="flex-start" miw={140}>
          <Anchor
            component={Link}
            size="sm"
            href={pathOf(`applications/${encodeURIComponent(original.id)}`)}
            style={{ overflowWrap: "anywhere" }}
          >
            {original.name ?? original.id}
          </Anchor>
          {original.origin !== null && original.origin !== "listed" && (
            <Text size="xs" c="dimmed">
              {words.applications.origins[original.origin]}
            </Text>
          )}
        </Stack>
      ),
    },
    ...accessColumns<Listed>(),
    {
      id: "actions",
      header: actionsHeader,
      cell: ({ row: { original } }) =>
        may("endUserApplication") && (
          <Group justify="flex-end">
            <ConfirmedButton
              compact
              label={words.accesses.end}
              about={original.name ?? original.id}
              title={words.accesses.endQuestion}
              loading={end.isPending}
              onConfirm={() => end.mutateAsync({ tenant, id, client_id: original.id })}
            >
              {words.accesses.endConsequence}
            </ConfirmedButton>
          </Group>
        ),
    },
  ];
  return (
    <Stack gap="sm">
      <DataTable
        label={words.user.tabs.applications}
        {...listed}
        columns={columns}
        idOf={(application) => application.id}
        empty={<Empty title={words.accesses.empty} sentence={words.accesses.emptySentence} />}
      />
      <Text size="sm" c="dimmed">
        {words.accesses.openSession}
      </Text>
    </Stack>
  );
}
