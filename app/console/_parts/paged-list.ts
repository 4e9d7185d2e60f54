"use client";

import { keepPreviousData, type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useIsLeft } from "./left-page.ts";
import { useSearchState } from "./search-state.ts";

/**
 * Reads the page of a list that the address names. The former page is shown until the next one is read.
 *
 * @param queryOf the query of a page
 * @param options `size`: rows of a page; `rereadMs`: after which time the page is read again, as long as it is shown
 * @returns the properties of the table that shows it
 */
export function usePagedList<
  Listed extends { items: readonly unknown[]; total: number },
  Failure extends { message: string },
  Key extends QueryKey,
>(
  queryOf: (page: { page: number; per_page: number }) => UseQueryOptions<Listed, Failure, Listed, Key>,
  {
    size = 20,
    rereadMs = () => false,
  }: { size?: number; rereadMs?: (items: Listed["items"], page: number) => number | false } = {},
) {
  const [value, change] = useSearchState();
  const isLeft = useIsLeft();
  const page = Math.max(1, Math.trunc(Number(value("page"))) || 1);
  const found = useQuery({
    ...queryOf({ page, per_page: size }),
    enabled: !isLeft,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => rereadMs(data?.items ?? [], page),
  });
  const onPage = (next: number) => change({ page: next === 1 ? "" : String(next) }, { keepsPage: true });
  return { found, page, size, onPage };
}
