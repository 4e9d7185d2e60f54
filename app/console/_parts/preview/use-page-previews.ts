"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AdminOperations } from "../../../../packages/server/src/interface.ts";
import { useTRPCClient } from "../../_api/provider.tsx";
import { useTenant } from "../../_shell/me.tsx";

type Body = NonNullable<AdminOperations["previewPages"]["input"]["body"]>;

/** What is drawn stays until settings change, which reads everything again. */
const STALE_MS = 5 * 60_000;

/**
 * Draws pages in the settings in force, or in those that are tried.
 *
 * @returns beside the error of these settings, what was drawn last: half of a colour is none
 */
export function usePagePreviews(body: Body, { enabled = true } = {}) {
  const tenant = useTenant();
  const client = useTRPCClient();
  const { data, error, isFetching } = useQuery({
    queryKey: ["previewPages", tenant, body],
    queryFn: ({ signal }) => client.previewPages.mutate({ tenant, body }, { signal }),
    staleTime: STALE_MS,
    enabled,
  });
  const [last, setLast] = useState(data);
  if (data && data !== last) setLast(data);
  return { previews: data ?? last, error, isFetching };
}
