"use client";

import { Badge, Button, Group, Modal, Radio, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleRole } from "#server/identity/console-roles";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { AccountLink } from "../../../_parts/account-link.tsx";
import { AccountSelect } from "../../../_parts/account-select.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { useOfferedRoles } from "../../../_parts/offered-roles.ts";
import { PageHead } from "../../../_parts/page-head.tsx";
import { useMay, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Grant = AdminOperations["listConsoleRoles"]["answer"][number];

/** Who may enter the console. */
export function Roles() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = useQuery(trpc.listConsoleRoles.queryOptions({ tenant }));
  const giveBack = useChange(trpc.setConsoleRole.mutationOptions(), words.undone);
  const takeAway = useChange(trpc.deleteConsoleRole.mutationOptions(), words.consoleRoles.takenAway, {
    async undo({ id }) {
      const role = listed.data?.find(({ user_id }) => user_id === id)?.role;
      if (role) await giveBack.mutateAsync({ tenant, id, body: { role } });
    },
  });
  const columns: Column<Grant>[] = [
    {
      id: "account",
      header: words.consoleRoles.account,
      cell: ({ row: { original } }) => <AccountLink id={original.user_id} address={original.email} />,
    },
    {
      id: "role",
      header: words.consoleRoles.role,
      cell: ({ row }) => <Badge variant="light">{words.roles[row.original.role]}</Badge>,
    },
    {
      id: "since",
      header: words.consoleRoles.since,
      cell: ({ row }) => <Moment at={row.original.created_at} />,
    },
    {
      id: "actions",
      header: actionsHeader,
      cell: ({ row: { original } }) =>
        may("deleteConsoleRole") && (
          <Group justify="flex-end">
            <ConfirmedButton
              label={words.consoleRoles.takeAway}
              about={original.email ?? original.user_id}
              title={words.consoleRoles.questionOf(original.email ?? original.user_id)}
              loading={takeAway.isPending}
              onConfirm={() => takeAway.mutateAsync({ tenant, id: original.user_id })}
            >
              {words.consoleRoles.consequence}
            </ConfirmedButton>
          </Group>
        ),
    },
  ];
  return (
    <>
      <PageHead title={words.pages.roles} sentence={words.consoleRoles.sentence}>
        {may("setConsoleRole") && <GiveRole />}
      </PageHead>
      <DataTable
        label={words.pages.roles}
        {...wholeList(listed)}
        columns={columns}
        idOf={({ user_id }) => user_id}
        empty={<Empty title={words.consoleRoles.empty} />}
      />
    </>
  );
}

/** Chooses an account and a role that is not stronger than one's own. */
function GiveRole() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const tenant = useTenant();
  const trpc = useTRPC();
  const [userId, setUserId] = useState<string | null>(null);
  const [role, setRole] = useState<ConsoleRole>("auditor");
  const give = useChange(trpc.setConsoleRole.mutationOptions({ onSuccess: close }), words.consoleRoles.given);
  const offered = useOfferedRoles();
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.consoleRoles.add}
      </Button>
      <Modal opened={isOpen} onClose={close} title={words.consoleRoles.add} centered>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (userId) give.mutate({ tenant, id: userId, body: { role } });
          }}
        >
          <Stack>
            <AccountSelect
              label={words.consoleRoles.account}
              data-autofocus
              value={userId}
              onChange={setUserId}
            />
            <Radio.Group
              label={words.consoleRoles.role}
              value={role}
              onChange={(chosen) => setRole(chosen as ConsoleRole)}
            >
              <Stack gap="xs" mt="xs">
                {offered.map((name) => (
                  <Radio
                    key={name}
                    value={name}
                    label={words.roles[name]}
                    description={words.consoleRoles.meanings[name]}
                  />
                ))}
              </Stack>
            </Radio.Group>
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {words.cancel}
              </Button>
              <Button type="submit" disabled={userId === null} loading={give.isPending}>
                {words.consoleRoles.add}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
