"use client";

import { Anchor, Code, Group, Stack, Text } from "@mantine/core";
import Link from "next/link";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { useLockOutQuestion } from "../../../../_parts/lock-out.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { shownValue } from "../setting.tsx";

type Version = AdminOperations["listSettingsHistory"]["answer"]["items"][number];

/** Who has changed which settings, and the way back to a version. */
export function History() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = usePagedList((page) => trpc.listSettingsHistory.queryOptions({ tenant, query: page }));
  const { guarded, question } = useLockOutQuestion();
  const restore = useChange(trpc.restoreSettings.mutationOptions(), words.settings.restored);
  const columns: Column<Version>[] = [
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

function Author({ by }: { by: Version["by"] }) {
  const pathOf = usePagePath();
  if (!by) return <Text size="sm">{words.settings.unknown}</Text>;
  return (
    <Stack gap={2} align="flex-start">
      <Text size="sm">{words.settings.authors[by.kind]}</Text>
      {by.kind === "user" && by.id && (
        <Anchor component={Link} size="sm" href={pathOf(`users/${by.id}`)}>
          {by.id.slice(0, 8)}
        </Anchor>
      )}
      {by.kind === "api_key" && by.id && <Identifier value={by.id} shortened />}
    </Stack>
  );
}

function Changes({ version: { changes } }: { version: Version }) {
  return (
    <Stack gap={4}>
      {changes.map(({ path, before, after }) => (
        <Text key={path} size="xs" style={{ overflowWrap: "break-word" }}>
          {path}: <Code>{shownValue(before)}</Code> → <Code>{shownValue(after)}</Code>
        </Text>
      ))}
    </Stack>
  );
}
