"use client";

import { Code, Stack, Text, Title } from "@mantine/core";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Refused = AdminOperations["listRefusedRecords"]["answer"]["items"][number];

const columns: Column<Refused>[] = [
  { id: "line", header: words.imports.line, cell: ({ row }) => <Text size="sm">{row.original.line}</Text> },
  {
    id: "record",
    header: words.imports.record,
    cell: ({ row }) => <Text size="sm">{row.original.record}</Text>,
  },
  {
    id: "source",
    header: words.imports.source,
    cell: ({ row: { original } }) =>
      original.id === undefined ? null : <Code style={{ overflowWrap: "anywhere" }}>{original.id}</Code>,
  },
  {
    id: "reason",
    header: words.imports.reason,
    cell: ({ row }) => <Text size="sm">{row.original.reason}</Text>,
  },
];

/** The records of a file that were refused, or would be, with the reason of each. */
export function RefusedRecords({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const listed = usePagedList((page) => trpc.listRefusedRecords.queryOptions({ tenant, id, query: page }));
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {words.imports.refusedRecords}
      </Title>
      <DataTable
        label={words.imports.refusedRecords}
        {...listed}
        columns={columns}
        idOf={({ record }) => String(record)}
        empty={<Empty title={words.imports.noneRefused} sentence={words.imports.noneRefusedSentence} />}
      />
    </Stack>
  );
}
