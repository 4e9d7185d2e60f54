"use client";

import { Alert } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../_api/provider.tsx";
import { useTenant } from "../_shell/me.tsx";
import { words } from "../_words.ts";

/** Reads the shown tenant. The settings of the default one are those of the server, which alone changes them. */
export const useOwnTenant = () => useQuery(useTRPC().getOwnTenant.queryOptions({ tenant: useTenant() }));

/** Says of the default tenant why nothing can be changed here. */
export function OfConfiguration() {
  const { data } = useOwnTenant();
  return data?.default ? (
    <Alert color="blue" icon={<IconInfoCircle size={18} />}>
      {words.ofConfiguration}
    </Alert>
  ) : null;
}
