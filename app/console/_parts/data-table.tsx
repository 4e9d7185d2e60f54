"use client";

import {
  Box,
  Checkbox,
  Group,
  Pagination,
  Paper,
  ScrollArea,
  Skeleton,
  Table,
  Text,
  VisuallyHidden,
} from "@mantine/core";
import {
  type ColumnDef,
  type RowData,
  type RowSelectionState,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useRouter } from "next/navigation";
import type { KeyboardEvent, MouseEvent, ReactNode } from "react";
import { words } from "../_words.ts";
import { Failure } from "./answers.tsx";

/** A list of the service in pages: the service finds, sorts and counts; the table shows one page. */

const features = tableFeatures({ rowSelectionFeature });

/** A column: `header` is its heading, `cell` shows a row. */
export type Column<Row extends RowData> = ColumnDef<typeof features, Row>;

/** The heading of a column of buttons, for screen readers. */
export const actionsHeader = () => <VisuallyHidden>{words.table.actions}</VisuallyHidden>;

/** What a query of a page of a list has found. */
interface Found<Row> {
  data: { items: readonly Row[]; total: number } | undefined;
  error: { message: string } | null;
  isPlaceholderData: boolean;
  refetch(): unknown;
}

/**
 * The properties of a table that shows all rows of a list, which the service does not page.
 *
 * @param found the query
 */
export function wholeList<Row>({
  data,
  ...found
}: Omit<Found<Row>, "data"> & { data: readonly Row[] | undefined }) {
  return {
    found: { ...found, data: data && { items: data, total: data.length } },
    page: 1,
    size: Math.max(1, data?.length ?? 1),
    onPage: () => {},
  };
}

/**
 * Draws a cell by a call: as a component, its function would be another one with each drawing of the page, and what is open in
 * the cell would close.
 */
const shownCell = <Context,>(cell: unknown, context: Context): ReactNode =>
  typeof cell === "function" ? (cell as (context: Context) => ReactNode)(context) : (cell as ReactNode);

const SKELETON_ROWS = 8;

/** On a phone a table is wider than its place, rather than its columns as narrow as a letter. */
const CELL_WIDTH = 96;

/** What a row is about stands in its first column. */
const FIRST_CELL_WIDTH = 160;

/** Below it a column is not narrowed: the table is scrolled instead. */
const COLUMN_PX = 120;

interface Props<Row extends RowData> {
  /** What is listed, for screen readers. */
  label: string;
  found: Found<Row>;
  columns: Column<Row>[];
  idOf(row: Row): string;
  /** What a row is called where it is selected; default: its id. */
  nameOf?(row: Row): string;
  /** The page, from 1, and the rows of one. */
  page: number;
  size: number;
  onPage(page: number): void;
  /** The address of the page of a row. */
  hrefOf?(row: Row): string;
  /** Selected rows by id; without it rows cannot be selected. */
  selection?: { chosen: RowSelectionState; onChange(chosen: RowSelectionState): void };
  /** Stands in place of an empty list. */
  empty: ReactNode;
}

export function DataTable<Row extends RowData>({
  label,
  found,
  columns,
  idOf,
  nameOf = idOf,
  page,
  size,
  onPage,
  hrefOf,
  selection,
  empty,
}: Props<Row>) {
  const router = useRouter();
  const { data, error, isPlaceholderData, refetch } = found;
  const table = useTable({
    features,
    columns,
    data: (data?.items ?? []) as Row[],
    getRowId: idOf,
    enableRowSelection: selection !== undefined,
    state: { rowSelection: selection?.chosen ?? {} },
    onRowSelectionChange: (next) =>
      selection?.onChange(typeof next === "function" ? next(selection.chosen) : next),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (data && data.total === 0) return <Paper withBorder>{empty}</Paper>;
  const pages = data ? Math.ceil(data.total / size) : 1;
  const rows = table.getRowModel().rows;
  const open = (row: Row) => hrefOf && router.push(hrefOf(row));
  return (
    <Box>
      <Paper withBorder style={{ overflow: "hidden" }}>
        <ScrollArea
          type="auto"
          offsetScrollbars="present"
          // Rows that lead nowhere are moved by the arrows.
          viewportProps={hrefOf ? {} : { tabIndex: 0 }}
        >
          <Table
            aria-label={label}
            aria-busy={!data || isPlaceholderData}
            highlightOnHover={hrefOf !== undefined}
            miw={columns.length * COLUMN_PX}
            verticalSpacing="xs"
            horizontalSpacing="md"
            style={{ opacity: isPlaceholderData ? 0.6 : 1 }}
          >
            <Table.Thead>
              {table.getHeaderGroups().map((group) => (
                <Table.Tr key={group.id}>
                  {selection && (
                    <Table.Th w={40}>
                      <Checkbox
                        size="xs"
                        aria-label={words.table.selectAll}
                        checked={table.getIsAllRowsSelected()}
                        indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
                        onChange={table.getToggleAllRowsSelectedHandler()}
                      />
                    </Table.Th>
                  )}
                  {group.headers.map((header) => (
                    <Table.Th key={header.id} style={{ whiteSpace: "nowrap" }}>
                      <table.FlexRender header={header} />
                    </Table.Th>
                  ))}
                </Table.Tr>
              ))}
            </Table.Thead>
            <Table.Tbody>
              {!data &&
                Array.from({ length: SKELETON_ROWS }, (_, index) => `row ${index}`).map((key) => (
                  <Table.Tr key={key}>
                    <Table.Td colSpan={columns.length + (selection ? 1 : 0)}>
                      <Skeleton height={20} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              {rows.map((row) => (
                <Table.Tr
                  key={row.id}
                  tabIndex={hrefOf ? 0 : undefined}
                  style={hrefOf ? { cursor: "pointer" } : undefined}
                  onClick={(event) => isOwn(event) && open(row.original)}
                  onKeyDown={(event) => onRowKey(event, () => open(row.original))}
                >
                  {selection && (
                    <Table.Td>
                      <Checkbox
                        size="xs"
                        aria-label={`${words.table.select} ${nameOf(row.original)}`}
                        checked={row.getIsSelected()}
                        onChange={row.getToggleSelectedHandler()}
                      />
                    </Table.Td>
                  )}
                  {row.getAllCells().map((cell, index) => (
                    <Table.Td key={cell.id} miw={index === 0 ? FIRST_CELL_WIDTH : CELL_WIDTH}>
                      {shownCell(cell.column.columnDef.cell, cell.getContext())}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      </Paper>
      <Group justify="space-between" mt="sm" mih={32}>
        <Text size="sm" c="dimmed" aria-live="polite">
          {data ? words.table.total(data.total) : ""}
        </Text>
        {pages > 1 && (
          <Pagination
            size="sm"
            total={pages}
            value={Math.min(page, pages)}
            onChange={onPage}
            getControlProps={(control) => ({ "aria-label": words.table.pages[control] })}
            getItemProps={(item) => ({ "aria-label": words.table.page(item) })}
          />
        )}
      </Group>
    </Box>
  );
}

/** Whether a click is one on the row, and not on a control in it. */
const isOwn = ({ target }: MouseEvent) => !(target as Element).closest("a, button, input, label");

/** Rows are walked with the arrows and opened with Enter. */
function onRowKey(event: KeyboardEvent<HTMLTableRowElement>, open: () => void): void {
  if (event.target !== event.currentTarget) return;
  const { nextElementSibling: next, previousElementSibling: previous } = event.currentTarget;
  const moves: Record<string, Element | null> = { ArrowDown: next, ArrowUp: previous, j: next, k: previous };
  if (event.key === "Enter") open();
  else if (moves[event.key] instanceof HTMLElement) (moves[event.key] as HTMLElement).focus();
  else return;
  event.preventDefault();
}
