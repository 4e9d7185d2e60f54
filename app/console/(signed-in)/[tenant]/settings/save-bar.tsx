"use client";

import { Affix, Button, Checkbox, Code, Group, Paper, Skeleton, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { Failure } from "../../../_parts/answers.tsx";
import { useChange } from "../../../_parts/change.tsx";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { useLockOutQuestion } from "../../../_parts/lock-out.tsx";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { DryRun } from "./dry-run.tsx";
import { shownValue } from "./setting.tsx";
import { type Change, mergePatchOf } from "./setting-tree.ts";

/** Stays in sight while there are changes. It shows them, and what they would do, before they are saved. */
export function SaveBar({
  changes,
  problem,
  secrets,
  onDone,
}: {
  changes: Change[];
  /** What contradicts in them; undefined for nothing. */
  problem: string | undefined;
  /** Names of the settings whose values are not shown. */
  secrets: ReadonlySet<string>;
  onDone(): void;
}) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const { guarded, question } = useLockOutQuestion();
  const [isConfirmed, setConfirmed] = useState(false);
  const config = mergePatchOf(changes);
  const dryRun = useMutation(trpc.dryRunSettings.mutationOptions());
  const save = useChange(
    trpc.changeOwnTenant.mutationOptions({
      onSuccess() {
        close();
        onDone();
      },
    }),
    words.settings.saved,
  );
  if (changes.length === 0) return null;
  const locksOut = (dryRun.data?.locked_out.count ?? 0) > 0;
  const shown = (name: string, value: unknown) =>
    secrets.has(name) && value !== undefined && value !== null ? "***" : shownValue(value);
  const review = () => {
    setConfirmed(false);
    dryRun.mutate({ tenant, body: { config } });
    open();
  };
  return (
    <Affix position={{ bottom: 16, right: 16 }} role="region" aria-label={words.settings.unsaved}>
      <Paper withBorder shadow="md" p="sm" maw={480}>
        <Group gap="sm" justify="flex-end">
          <Text
            size="sm"
            role="status"
            {...(problem ? { c: "red" } : {})}
            style={{ overflowWrap: "anywhere" }}
          >
            {problem ?? words.settingField.changed(changes.length)}
          </Text>
          <Button size="xs" variant="default" onClick={onDone}>
            {words.settingField.discard}
          </Button>
          <Button size="xs" disabled={problem !== undefined} onClick={review}>
            {words.settings.review}
          </Button>
        </Group>
      </Paper>
      <FormModal
        title={words.settings.reviewTitle}
        size="lg"
        opened={isOpen}
        onClose={close}
        loading={save.isPending}
        disabled={!dryRun.data || (locksOut && !isConfirmed)}
        onSubmit={() => {
          const change = {
            config,
            // A change since then is told, rather than overwritten.
            ...(dryRun.data ? { if_unchanged_since: dryRun.data.updated_at } : {}),
            ...(locksOut ? { unless_locked_out: [] } : {}),
          };
          void guarded((confirmation) =>
            save.mutateAsync({ tenant, body: { ...change, ...confirmation } }),
          ).catch(() => {});
        }}
      >
        <Table aria-label={words.settings.reviewTitle} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="50%">{words.settings.setting}</Table.Th>
              <Table.Th>{words.settings.before}</Table.Th>
              <Table.Th>{words.settings.after}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ name, before, value }) => (
              <Table.Tr key={name}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
                <Table.Td>
                  <Code style={{ overflowWrap: "anywhere" }}>{shown(name, before)}</Code>
                </Table.Td>
                <Table.Td>
                  <Code style={{ overflowWrap: "anywhere" }}>{shown(name, value)}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {dryRun.isPending && <Skeleton height={80} />}
        {dryRun.error && <Failure error={dryRun.error} />}
        {dryRun.data && <DryRun found={dryRun.data} />}
        {locksOut && (
          <Checkbox
            label={words.settings.confirmLockOut}
            checked={isConfirmed}
            onChange={({ currentTarget }) => setConfirmed(currentTarget.checked)}
          />
        )}
      </FormModal>
      {question}
    </Affix>
  );
}
