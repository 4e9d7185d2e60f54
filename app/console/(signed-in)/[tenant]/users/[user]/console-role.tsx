"use client";

import { Badge, Button, Group, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ConsoleRole } from "#server/identity/console-roles";
import { useTRPC } from "../../../../_api/provider.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { useOfferedRoles } from "../../../../_parts/offered-roles.ts";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

/** The role that the user was given; null without one, undefined until it is known. */
function useRole(id: string): ConsoleRole | null | undefined {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data } = useQuery({
    ...trpc.listConsoleRoles.queryOptions({ tenant }),
    enabled: may("listConsoleRoles"),
  });
  return data && (data.find(({ user_id }) => user_id === id)?.role ?? null);
}

/** Shows that the user may enter the console. */
export function ConsoleRoleBadge({ id }: { id: string }) {
  const role = useRole(id);
  return role ? <Badge variant="outline">{words.roles[role]}</Badge> : null;
}

/** The role of the user, and its change. */
export function ConsoleRolePanel({ id }: { id: string }) {
  const role = useRole(id);
  if (role === undefined) return null;
  return (
    <Panel title={words.user.role} sentence={words.user.roleSentence}>
      <Role key={role} id={id} role={role} />
    </Panel>
  );
}

function Role({ id, role }: { id: string; role: ConsoleRole | null }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const offered = useOfferedRoles();
  const [chosen, setChosen] = useState<ConsoleRole | null>(role);
  const giveBack = useChange(trpc.setConsoleRole.mutationOptions(), words.undone);
  const takeBack = useChange(trpc.deleteConsoleRole.mutationOptions(), words.undone);
  const undo = () =>
    role === null
      ? takeBack.mutateAsync({ tenant, id })
      : giveBack.mutateAsync({ tenant, id, body: { role } });
  const give = useChange(trpc.setConsoleRole.mutationOptions(), words.consoleRoles.given, { undo });
  const takeAway = useChange(trpc.deleteConsoleRole.mutationOptions(), words.consoleRoles.takenAway, {
    undo,
  });
  // A stronger role than one's own is shown, and not changed.
  const mayChange = may("setConsoleRole") && (role === null || offered.includes(role));
  const shown = role === null || offered.includes(role) ? offered : [...offered, role];
  return (
    <Group gap="xs" align="flex-end">
      <Select
        aria-label={words.user.role}
        placeholder={words.user.noRole}
        data={shown.map((name) => ({ value: name, label: words.roles[name] }))}
        value={chosen}
        onChange={(name) => setChosen(name as ConsoleRole | null)}
        allowDeselect={false}
        disabled={!mayChange}
        flex={1}
      />
      {mayChange && (
        <>
          <Button
            variant="default"
            disabled={chosen === role}
            loading={give.isPending}
            aria-label={`${words.save} ${words.user.role}`}
            onClick={() => chosen && give.mutate({ tenant, id, body: { role: chosen } })}
          >
            {words.save}
          </Button>
          {role !== null && (
            <ConfirmedButton
              label={words.consoleRoles.takeAway}
              title={words.consoleRoles.question}
              loading={takeAway.isPending}
              onConfirm={() => takeAway.mutateAsync({ tenant, id })}
            >
              {words.consoleRoles.consequence}
            </ConfirmedButton>
          )}
        </>
      )}
    </Group>
  );
}
