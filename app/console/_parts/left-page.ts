"use client";

import { type QueryClient, useMutationState } from "@tanstack/react-query";
import { usePathname } from "next/navigation";

/**
 * A page whose subject is deleted. Until the next page is there it is still shown, and what it reads of the subject would
 * be answered 404.
 */

/** @returns the key of a mutation that deletes what this page is about */
export function useLeaves(): readonly string[] {
  return ["leaves", usePathname()];
}

/** @returns whether the subject of this page is deleted, or is being deleted */
export function useIsLeft(): boolean {
  const statuses = useMutationState({
    filters: { mutationKey: useLeaves() },
    select: ({ state }) => state.status,
  });
  return statuses.some((status) => status === "pending" || status === "success");
}

/** How long a deletion waits: an answer that does not come must not keep it from being made. */
const MAX_WAIT_MS = 5_000;

/** Waits for the answers that pages have asked for, so that none is asked for before a deletion and judged after it. */
export async function allRead(queries: QueryClient): Promise<void> {
  const underWay = queries.getQueryCache().findAll({ fetchStatus: "fetching" });
  const answered = Promise.allSettled(underWay.map(({ promise }) => promise));
  await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);
}
