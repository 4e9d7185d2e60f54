"use client";

import type { RowData } from "@tanstack/react-table";
import type { ComponentProps } from "react";
import { Empty } from "./answers.tsx";
import { DataTable } from "./data-table.tsx";
import { usePageState } from "./search-state.ts";

/** A table whose page is in the address. The query of its rows reads the same page (`usePageState`). */
export function PagedTable<Row extends RowData>({
  empty,
  ...table
}: Omit<ComponentProps<typeof DataTable<Row>>, "page" | "onPage" | "empty"> & {
  /** What is said of an empty list. */
  empty: { title: string; sentence: string };
}) {
  const [page, setPage] = usePageState();
  return <DataTable {...table} page={page} onPage={setPage} empty={<Empty {...empty} />} />;
}
