"use client";

import { Alert, Button, Group, List, Modal, Paper, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Action = NonNullable<AdminOperations["actOnUsers"]["input"]["body"]>["action"];
type Result = AdminOperations["actOnUsers"]["answer"]["results"][number];

/** Users that one call changes, as the operation bounds it. */
const MAX_AT_ONCE = 500;

const actions = Object.keys(words.users.actions) as Action[];

/** What can be done with the selected users, and what became of each of them. */
export function Selected({
  chosen,
  onChange,
}: {
  chosen: Record<string, true>;
  onChange(chosen: Record<string, true>): void;
}) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [results, setResults] = useState<Result[] | null>(null);
  const ids = Object.keys(chosen).filter((id) => chosen[id]);
  const act = useChange(
    trpc.actOnUsers.mutationOptions({
      onSuccess: ({ results: made }) => {
        setResults(made);
        // Those that failed stay selected, to be tried again.
        onChange(Object.fromEntries(made.filter(hasFailed).map(({ user_id }) => [user_id, true])));
      },
    }),
  );
  return (
    <>
      {ids.length > 0 && (
        <Paper withBorder p="sm" role="region" aria-label={words.users.selected(ids.length)}>
          <Group justify="space-between" gap="sm">
            <Group gap="xs">
              <Text size="sm" fw={500} aria-live="polite">
                {words.users.selected(ids.length)}
              </Text>
              <Button variant="subtle" size="compact-sm" onClick={() => onChange({})}>
                {words.users.unselect}
              </Button>
            </Group>
            <Group gap="xs">
              {actions.map((action) => (
                <ConfirmedButton
                  key={action}
                  compact
                  {...(action === "unblock" || action === "end_sessions" ? { color: "indigo" } : {})}
                  label={words.users.actions[action]}
                  title={words.users.questions[action](ids.length)}
                  loading={act.isPending}
                  disabled={ids.length > MAX_AT_ONCE}
                  {...(action === "delete" ? { typed: String(ids.length) } : {})}
                  onConfirm={() => act.mutateAsync({ tenant, body: { action, user_ids: ids } })}
                >
                  {words.users.consequences[action]}
                </ConfirmedButton>
              ))}
            </Group>
          </Group>
          {ids.length > MAX_AT_ONCE && (
            <Text size="sm" c="dimmed" mt="xs">
              {words.users.tooMany(MAX_AT_ONCE)}
            </Text>
          )}
        </Paper>
      )}
      <Modal opened={results !== null} onClose={() => setResults(null)} title={words.users.outcome} centered>
        <Outcome results={results ?? []} />
        <Group justify="flex-end" mt="md">
          <Button onClick={() => setResults(null)} data-autofocus>
            {words.close}
          </Button>
        </Group>
      </Modal>
    </>
  );
}

const hasFailed = ({ status }: Result) => status >= 400;

function Outcome({ results }: { results: Result[] }) {
  const failed = results.filter(hasFailed);
  return (
    <Stack>
      <Text size="sm">{words.users.done(results.length - failed.length)}</Text>
      {failed.length > 0 && (
        <Alert color="red" icon={<IconAlertTriangle size={18} />} title={words.users.failed(failed.length)}>
          <List size="sm" spacing={4} listStyleType="none">
            {failed.map(({ user_id, message }) => (
              <List.Item key={user_id}>
                <Identifier value={user_id} shortened /> {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
