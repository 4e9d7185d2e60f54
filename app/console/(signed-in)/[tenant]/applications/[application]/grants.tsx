"use client";

import { Anchor, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { accessColumns } from "../../../../_parts/access.tsx";
import type { Column } from "../../../../_parts/data-table.tsx";
import { PagedTable } from "../../../../_parts/paged-table.tsx";
import { usePageState } from "../../../../_parts/search-state.ts";
import { usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Grant = AdminOperations["listOpenidClientGrants"]["answer"]["items"][number];

const SIZE = 20;

/** The users to whose accounts an application has access. The page of a user ends it. */
export function Grants({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const [page] = usePageState();
  const found = useQuery({
    ...trpc.listOpenidClientGrants.queryOptions({ tenant, client_id: id, query: { page, per_page: SIZE } }),
    placeholderData: keepPreviousData,
  });
  const addressOf = ({ user_id }: Grant) => pathOf(`users/${user_id}?tab=applications`);
  const columns: Column<Grant>[] = [
    {
      id: "user",
      header: words.accesses.user,
      cell: ({ row: { original } }) => (
        <Anchor component={Link} size="sm" href={addressOf(original)}>
          {original.email ?? original.user_id}
        </Anchor>
      ),
    },
    ...accessColumns<Grant>(),
  ];
  return (
    <Stack gap="sm">
      <PagedTable
        label={words.applications.tabs.users}
        found={found}
        columns={columns}
        idOf={({ user_id }) => user_id}
        size={SIZE}
        hrefOf={addressOf}
        empty={{ title: words.accesses.noUsers, sentence: words.accesses.noUsersSentence }}
      />
      <Text size="sm" c="dimmed">
        {words.accesses.openSession}
      </Text>
    </Stack>
  );
}
