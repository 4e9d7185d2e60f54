"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useCallback } from "react";

/** Filters and pages in the address, so that every view can be linked to and gone back to. */

/**
 * Reads and changes members of the query of the address.
 *
 * @returns the value of a member, empty if it is absent; and a function that changes members, of which empty ones are left out.
 *   A change of a filter goes back to the first page
 */
export function useSearchState(): [
  (name: string) => string,
  (changed: Record<string, string>, how?: { keepsPage?: boolean; replaces?: boolean }) => void,
] {
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  const change = useCallback(
    (changed: Record<string, string>, { keepsPage = false, replaces = false } = {}) => {
      const next = new URLSearchParams(query);
      if (!keepsPage) next.delete("page");
      for (const [name, value] of Object.entries(changed))
        if (value === "") next.delete(name);
        else next.set(name, value);
      const address = next.size > 0 ? `${path}?${next}` : path;
      if (replaces) router.replace(address, { scroll: false });
      else router.push(address, { scroll: false });
    },
    [router, path, query],
  );
  return [(name) => query.get(name) ?? "", change];
}
