"use client";

import { ActionIcon, Button, Kbd } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { IconRoute, IconSearch, IconUser } from "@tabler/icons-react";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { inGroups, parseSupportNumber } from "#server/recorder/written-support-number";
import { useTRPC } from "../_api/provider.tsx";
import { keepFocus } from "../_parts/focus.tsx";
import { userName } from "../_parts/user-name.ts";
import { words } from "../_words.ts";
import { useMay, usePagePath, useTenant } from "./me.tsx";
import { pageGroups } from "./pages.tsx";

const DEBOUNCE_MS = 200;
const FOUND_USERS = 5;

/** The button that opens the command palette, for those who do not know its keys. */
export function PaletteButton() {
  return (
    <>
      <Button
        visibleFrom="md"
        variant="default"
        size="xs"
        w={240}
        justify="space-between"
        leftSection={<IconSearch size={14} />}
        rightSection={<Kbd size="xs">Ctrl K</Kbd>}
        onClick={spotlight.open}
        fw={400}
        c="dimmed"
      >
        {words.search}
      </Button>
      <ActionIcon
        hiddenFrom="md"
        variant="subtle"
        color="gray"
        size="lg"
        onClick={spotlight.open}
        aria-label={words.search}
      >
        <IconSearch size={20} stroke={1.6} />
      </ActionIcon>
    </>
  );
}

/** The command palette: pages, users as the page of users finds them, and sign-ins by their support number. */
export function Palette() {
  const [query, setQuery] = useState("");
  const [sought] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const router = useRouter();
  const pathOf = usePagePath();
  const tenant = useTenant();
  const may = useMay();
  const trpc = useTRPC();
  const { data: users } = useQuery({
    ...trpc.listUsers.queryOptions({ tenant, query: { q: sought, per_page: FOUND_USERS } }),
    enabled: sought.length > 1 && may("listUsers"),
    placeholderData: keepPreviousData,
  });
  const number = may("listFlows") ? parseSupportNumber(query) : null;
  const client = useQueryClient();
  const ofNumber = trpc.listFlows.queryOptions({
    tenant,
    query: { support_number: number ?? "", per_page: 2 },
  });
  useQuery({ ...ofNumber, enabled: number !== null });
  const openSignIn = async () => {
    // It may be chosen before it is read. An error is shown by the list.
    const { items } = await client.fetchQuery(ofNumber).catch(() => ({ items: [] }));
    // Two flows may share a number.
    const [flow, another] = items;
    router.push(pathOf(flow && !another ? `sign-ins/${flow.id}` : `sign-ins?number=${number}`));
  };
  const signIns: SpotlightActionData[] =
    number === null
      ? []
      : [
          {
            id: "sign-in",
            label: words.palette.openSignIn(inGroups(number)),
            leftSection: <IconRoute size={18} stroke={1.6} />,
            onClick: () => void openSignIn(),
          },
        ];
  const pages: SpotlightActionData[] = pageGroups
    .flat()
    .filter(({ needs, label }) => may(needs) && label.toLowerCase().includes(query.trim().toLowerCase()))
    .map(({ path, label, icon: Icon }) => ({
      id: `page-${path}`,
      label,
      leftSection: <Icon size={18} stroke={1.6} />,
      onClick: () => router.push(pathOf(path)),
    }));
  const found: SpotlightActionData[] = (sought.length > 1 ? (users?.items ?? []) : []).map((user) => ({
    id: `user-${user.id}`,
    label: userName(user),
    description: user.id,
    leftSection: <IconUser size={18} stroke={1.6} />,
    onClick: () => router.push(pathOf(`users/${user.id}`)),
  }));
  return (
    <Spotlight
      query={query}
      onQueryChange={setQuery}
      filter={(_, actions) => actions}
      actions={[
        ...(signIns.length > 0 ? [{ group: words.pages.sign_ins, actions: signIns }] : []),
        ...(pages.length > 0 ? [{ group: words.palette.pages, actions: pages }] : []),
        ...(found.length > 0 ? [{ group: words.palette.users, actions: found }] : []),
      ]}
      shortcut={["mod + K", "/"]}
      nothingFound={words.nothingFound}
      highlightQuery
      onSpotlightClose={keepFocus}
      attributes={{ content: { "aria-label": words.search } }}
      searchProps={{ placeholder: words.search, "aria-label": words.search }}
    />
  );
}
