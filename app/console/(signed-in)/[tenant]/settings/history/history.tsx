"use client";

import { Group } from "@mantine/core";
import type { SettingsVersion } from "../../../../_api/console-router.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { useLockOutQuestion } from "../../../../_parts/lock-out.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Author, Changes } from "../version.tsx";

/** Who has changed which settings, and the way back to a version. */
export function History() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = usePagedList((page) => trpc.listSettingsHistory.queryOptions({ tenant, query: page }));
  const { guarded, question } = useLockOutQuestion();
  const restore = useChange(trpc.restoreSettings.mutationOptions(), words.settings.restored);
  const columns: Column<SettingsVersion>[] = [
    { id: "time", header: words.settings.time, cell: ({ row }) => <Moment at={row.original.created_at} /> },
    { id: "by", header: words.settings.by, cell: ({ row }) => <Author by={row.original.by} /> },
    {
      id: "changes",
      header: words.settings.changes,
      cell: ({ row }) => <Changes version={row.original} />,
    },
    {
      id: "actions",
      header: actionsHeader,
      // The newest version is what is in force.
      cell: ({ row: { original, index } }) =>
        may("restoreSettings") &&
        (listed.page > 1 || index > 0) && (
          <Group justify="flex-end">
            <ConfirmedButton
              label={words.settings.restore}
              title={words.settings.restoreQuestion}
              color="indigo"
              compact
              about={original.created_at}
              loading={restore.isPending}
              onConfirm={() =>
                guarded((body) => restore.mutateAsync({ tenant, version_id: original.id, body }))
              }
            >
              {words.settings.restoreConsequence}
            </ConfirmedButton>
          </Group>
        ),
    },
  ];
  return (
    <>
      <BackLink to="settings" label={words.pages.settings} />
      <PageHead title={words.settings.history} sentence={words.settings.historySentence} />
      {question}
      <DataTable
        label={words.settings.history}
        {...listed}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={words.settings.historyEmpty} sentence={words.settings.historyEmptySentence} />}
      />
    </>
  );
}
