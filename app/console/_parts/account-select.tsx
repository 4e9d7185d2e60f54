"use client";

import { Select, type SelectProps } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../_api/provider.tsx";
import { useTenant } from "../_shell/me.tsx";
import { words } from "../_words.ts";

const FOUND_USERS = 10;
const DEBOUNCE_MS = 200;

/** Chooses an account of the tenant, which is found by a part of its address. */
export function AccountSelect({
  value,
  onChange,
  ...shown
}: {
  value: string | null;
  onChange(id: string | null): void;
  "data-autofocus"?: boolean;
} & Pick<SelectProps, "label" | "clearable" | "w">) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const [sought] = useDebouncedValue(typed, DEBOUNCE_MS);
  const { data: users } = useQuery({
    ...trpc.listUsers.queryOptions({ tenant, query: { email: sought, per_page: FOUND_USERS } }),
    placeholderData: keepPreviousData,
  });
  const found = (users?.items ?? []).map((user) => ({
    value: user.id,
    label: user.emails?.[0]?.address ?? user.username?.username ?? user.id,
  }));
  const isFound = value === null || found.some((option) => option.value === value);
  return (
    <Select
      {...shown}
      placeholder={words.accountSelect.hint}
      searchable
      value={value}
      onChange={onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage={words.nothingFound}
      data={isFound ? found : [{ value, label: value }, ...found]}
    />
  );
}
