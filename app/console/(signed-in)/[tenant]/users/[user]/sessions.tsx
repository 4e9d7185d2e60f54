"use client";

import { Badge, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { describeUserAgent } from "#server/lib/user-agent";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable, wholeList } from "../../../../_parts/data-table.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

type Session = AdminOperations["listUserSessions"]["answer"][number];

/** Where the user is signed in. */
export function Sessions({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = useQuery(trpc.listUserSessions.queryOptions({ tenant, id }));
  const end = useChange(trpc.endUserSession.mutationOptions(), words.user.sessionEnded);
  const endAll = useChange(trpc.endUserSessions.mutationOptions(), words.user.allEnded);
  const columns: Column<Session>[] = [
    { id: "device", header: words.user.device, cell: ({ row }) => <Device session={row.original} /> },
    {
      id: "address",
      header: words.user.address,
      cell: ({ row }) => <Text size="sm">{row.original.ip_address}</Text>,
    },
    { id: "used", header: words.user.used, cell: ({ row }) => <Moment at={row.original.last_used} /> },
    { id: "began", header: words.user.began, cell: ({ row }) => <Moment at={row.original.created_at} /> },
    { id: "ends", header: words.user.ends, cell: ({ row }) => <Moment at={row.original.expires_at} /> },
    {
      id: "actions",
      header: actionsHeader,
      cell: ({ row: { original } }) =>
        may("endUserSession") && (
          <Group justify="flex-end">
            <ConfirmedButton
              compact
              label={words.user.endSession}
              about={deviceOf(original)}
              title={words.user.endSessionQuestion}
              loading={end.isPending}
              onConfirm={() => end.mutateAsync({ tenant, id, session_id: original.id })}
            >
              {words.user.endSessionConsequence}
            </ConfirmedButton>
          </Group>
        ),
    },
  ];
  return (
    <Stack gap="md">
      {listed.data && listed.data.length > 0 && may("endUserSessions") && (
        <Group justify="flex-end">
          <ConfirmedButton
            label={words.user.endAll}
            title={words.user.endAllQuestion}
            loading={endAll.isPending}
            onConfirm={() => endAll.mutateAsync({ tenant, id })}
          >
            {words.user.endAllConsequence}
          </ConfirmedButton>
        </Group>
      )}
      <DataTable
        label={words.user.sessions}
        {...wholeList(listed)}
        columns={columns}
        idOf={({ id: session }) => session}
        empty={<Empty title={words.user.noSessions} sentence={words.user.noSessionsSentence} />}
      />
    </Stack>
  );
}

const deviceOf = ({ user_agent }: Session) => describeUserAgent(user_agent ?? "");

function Device({ session }: { session: Session }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" fw={500} title={session.user_agent ?? undefined}>
        {deviceOf(session)}
      </Text>
      {session.impersonated_by && (
        <Badge variant="light" color="orange" tt="none" title={session.impersonated_by.reason}>
          {words.user.actedBy(session.impersonated_by.name)}
        </Badge>
      )}
      {session.device_bound && (
        <Badge variant="light" color="teal" tt="none">
          {words.user.bound}
        </Badge>
      )}
    </Group>
  );
}
