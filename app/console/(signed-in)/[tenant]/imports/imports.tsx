"use client";

import { Anchor, Stack, Text, Title } from "@mantine/core";
import Link from "next/link";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { ImportState, isUnderWay, type UserImport } from "./import-state.tsx";
import { NewImport } from "./new-import.tsx";

/** How often the list is read while the service works on a file. */
const WORKING_MS = 3_000;

/** Files of users: a new one, and those before. */
export function Imports() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const mayBegin = may("beginImport");
  const listed = usePagedList((page) => trpc.listImports.queryOptions({ tenant, query: page }), {
    rereadMs: (items) => items.some(isUnderWay) && WORKING_MS,
  });
  const addressOf = ({ id }: UserImport) => pathOf(`imports/${id}`);
  const columns: Column<UserImport>[] = [
    {
      id: "file",
      header: words.imports.begun,
      cell: ({ row: { original } }) => (
        <Anchor component={Link} size="sm" href={addressOf(original)}>
          <Moment at={original.created_at} />
        </Anchor>
      ),
    },
    {
      id: "state",
      header: words.imports.state,
      cell: ({ row }) => <ImportState state={row.original.state} />,
    },
    {
      id: "form",
      header: words.imports.form,
      cell: ({ row }) => <Text size="sm">{formName(row.original)}</Text>,
    },
    {
      id: "counts",
      header: words.imports.imported,
      cell: ({ row }) => <Counts of={row.original} />,
    },
    {
      id: "size",
      header: words.imports.size,
      cell: ({ row }) => <Text size="sm">{words.imports.bytes(row.original.bytes)}</Text>,
    },
    {
      id: "changed",
      header: words.imports.changed,
      cell: ({ row }) => <Moment at={row.original.updated_at} />,
    },
  ];
  return (
    <>
      <PageHead title={words.pages.imports} sentence={words.imports.sentence} />
      {mayBegin && <NewImport />}
      <Stack gap="sm">
        <Title order={2} size="h4">
          {words.imports.history}
        </Title>
        <DataTable
          label={words.imports.history}
          {...listed}
          columns={columns}
          idOf={({ id }) => id}
          hrefOf={addressOf}
          empty={
            <Empty
              title={words.imports.empty}
              sentence={mayBegin ? words.imports.emptySentence : words.imports.emptyForReaders}
            />
          }
        />
      </Stack>
    </>
  );
}

/** The system that a file is of. */
export function formName({ format }: UserImport): string {
  if (format === null) return words.imports.recognized;
  return (words.imports.forms as Record<string, string>)[format] ?? format;
}

function Counts({ of: { state, imported, refused } }: { of: UserImport }) {
  const isCounted = state === "imported" || state === "cancelled" || state === "failed";
  return <Text size="sm">{isCounted ? words.imports.counts(imported, refused) : words.none}</Text>;
}
