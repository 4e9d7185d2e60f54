"use client";

import { Badge, Button, Collapse, Group, MultiSelect, Paper, Select, SimpleGrid } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { ChoiceField, SearchField, TimeField } from "../../../_parts/filters.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useMay, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

/** Which users are listed, in the address. */

type Query = NonNullable<AdminOperations["listUsers"]["input"]["query"]>;
type Method = NonNullable<Query["method"]>[number];

/** Members of the query of the address whose values are times, and the filters that they are. */
const times = {
  created_after: words.users.createdAfter,
  created_before: words.users.createdBefore,
  last_sign_in_after: words.users.lastSignInAfter,
  last_sign_in_before: words.users.lastSignInBefore,
} as const;

const filterNames = ["blocked", "verified", "method", "provider", ...Object.keys(times)];

const isMethod = (name: string): name is Method => Object.hasOwn(words.methods, name);

const methodsOf = (value: string) => value.split(",").filter(isMethod);

/** Reads the filters of the address, as the operations take them, and how many there are beside the search. */
export function useUserFilter(): { filter: Query; count: number } {
  const [value] = useSearchState();
  const methods = methodsOf(value("method"));
  const filter: Query = {
    ...(value("q") ? { q: value("q") } : {}),
    ...(value("blocked") ? { blocked: value("blocked") === "true" } : {}),
    ...(value("verified") ? { verified: value("verified") === "true" } : {}),
    ...(methods.length > 0 ? { method: methods } : {}),
    ...(value("provider") ? { provider: value("provider") } : {}),
    ...Object.fromEntries(
      Object.keys(times)
        .filter((name) => value(name) !== "")
        .map((name) => [name, value(name)]),
    ),
  };
  return { filter, count: filterNames.filter((name) => value(name) !== "").length };
}

/** Returns what clears the filters, and the search if it is told to. */
export function useClearFilters(): (of: { search: boolean }) => void {
  const [, change] = useSearchState();
  return ({ search }) =>
    change(Object.fromEntries([...(search ? ["q"] : []), ...filterNames].map((name) => [name, ""])));
}

type Order = keyof typeof words.users.orders;

const orders = Object.entries(words.users.orders).map(([value, label]) => ({ value, label }));

/** Reads the order of the address. */
export function useUserOrder(): Pick<Query, "sort_by" | "sort_direction"> {
  const [value] = useSearchState();
  const order: Order = orderOf(value("order"));
  const [by, direction] = order.split(".") as ["created_at" | "last_sign_in_at", "asc" | "desc"];
  return { sort_by: by, sort_direction: direction };
}

const orderOf = (value: string): Order =>
  Object.hasOwn(words.users.orders, value) ? (value as Order) : "created_at.desc";

/** The search, the order, and the filters below them, which a person opens. */
export function UserFilters({ children }: { /** Further controls. */ children: ReactNode }) {
  const [value, change] = useSearchState();
  const { count } = useUserFilter();
  const clear = useClearFilters();
  const [isOpen, { toggle }] = useDisclosure(count > 0);
  return (
    <div>
      <Group gap="sm" align="flex-end">
        <SearchField name="q" label={words.users.search} placeholder={words.users.searchHint} width={420} />
        <Select
          label={words.users.order}
          data={orders}
          value={orderOf(value("order"))}
          allowDeselect={false}
          onChange={(order) => change({ order: order === "created_at.desc" ? "" : (order ?? "") })}
          w={180}
        />
        <Button
          variant="default"
          leftSection={<IconFilter size={16} />}
          rightSection={count > 0 && <Badge circle>{count}</Badge>}
          onClick={toggle}
          aria-expanded={isOpen}
          aria-label={words.users.filters(count)}
        >
          {words.users.filters(0)}
        </Button>
        {children}
      </Group>
      <Collapse expanded={isOpen}>
        <Paper withBorder p="md" mt="sm">
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
            <YesOrNo name="blocked" label={words.users.blocked} />
            <YesOrNo name="verified" label={words.users.verified} />
            <MultiSelect
              label={words.users.method}
              placeholder={methodsOf(value("method")).length === 0 ? words.any : undefined}
              data={Object.entries(words.methods).map(([name, label]) => ({ value: name, label }))}
              value={methodsOf(value("method"))}
              onChange={(chosen) => change({ method: chosen.join(",") })}
              clearable
            />
            <ProviderField />
            {Object.entries(times).map(([name, label]) => (
              <TimeField key={name} name={name} label={label} />
            ))}
          </SimpleGrid>
          <Group justify="flex-end" mt="sm">
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => clear({ search: false })}
              disabled={count === 0}
            >
              {words.users.clear}
            </Button>
          </Group>
        </Paper>
      </Collapse>
    </div>
  );
}

function YesOrNo({ name, label }: { name: string; label: string }) {
  const [value, change] = useSearchState();
  return (
    <Select
      label={label}
      data={[
        { value: "", label: words.any },
        { value: "true", label: words.yes },
        { value: "false", label: words.no },
      ]}
      value={value(name) === "" ? "" : String(value(name) === "true")}
      allowDeselect={false}
      onChange={(chosen) => change({ [name]: chosen ?? "" })}
    />
  );
}

/** The providers of the settings are suggested; users may be linked to others, which were removed. */
function ProviderField() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data } = useQuery({
    ...trpc.listOAuthProviders.queryOptions({ tenant }),
    enabled: may("listOAuthProviders"),
  });
  return (
    <ChoiceField
      name="provider"
      label={words.users.provider}
      suggestions={(data ?? []).map(({ id }) => id)}
    />
  );
}
