"use client";

import { Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC } from "../_api/provider.tsx";
import { words } from "../_words.ts";
import { useMe, useTenant } from "./me.tsx";

/** Tenants that are offered without a search. */
const OFFERED = 100;

/** The tenant that is shown; an operator chooses another one here. */
export function TenantChoice() {
  const me = useMe();
  const tenant = useTenant();
  const router = useRouter();
  const isOperator = me.role === "operator";
  const trpc = useTRPC();
  const { data } = useQuery({
    ...trpc.listTenants.queryOptions({ query: { per_page: OFFERED } }),
    enabled: isOperator,
  });
  if (!isOperator)
    return (
      <Text size="sm" c="dimmed" truncate>
        {me.tenant.name}
      </Text>
    );
  const known = data?.items.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  const options = known.some(({ value }) => value === me.tenant.id)
    ? known
    : [{ value: me.tenant.id, label: me.tenant.name }, ...known];
  return (
    <Select
      aria-label={words.tenant.choice}
      size="xs"
      w={{ base: 150, sm: 220 }}
      data={options}
      value={tenant}
      searchable
      allowDeselect={false}
      nothingFoundMessage={words.nothingFound}
      onChange={(chosen) => chosen && router.push(`/console/${chosen}`)}
    />
  );
}
