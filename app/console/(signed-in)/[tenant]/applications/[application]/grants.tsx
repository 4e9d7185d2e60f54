"use client";

import { Stack, Text } from "@mantine/core";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { accessColumns } from "../../../../_parts/access.tsx";
import { AccountLink } from "../../../../_parts/account-link.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Grant = AdminOperations["listOpenidClientGrants"]["answer"]["items"][number];

/** The users to whose accounts an application has access. The page of a user ends it. */
export function Grants({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const listed = usePagedList((page) =>
    trpc.listOpenidClientGrants.queryOptions({ tenant, client_id: id, query: page }),
  );
  const addressOf = ({ user_id }: Grant) => pathOf(`users/${user_id}?tab=applications`);
  const columns: Column<Grant>[] = [
    {
      id: "user",
      header: words.accesses.user,
      cell: ({ row: { original } }) => (
        <AccountLink id={original.user_id} address={original.email} tab="applications" />
      ),
    },
    ...accessColumns<Grant>(),
  ];
  return (
    <Stack gap="sm">
      <DataTable
        label={words.applications.tabs.users}
        {...listed}
        columns={columns}
        idOf={({ user_id }) => user_id}
        hrefOf={addressOf}
        empty={<Empty title={words.accesses.noUsers} sentence={words.accesses.noUsersSentence} />}
      />
      <Text size="sm" c="dimmed">
        {words.accesses.openSession}
      </Text>
    </Stack>
  );
}
