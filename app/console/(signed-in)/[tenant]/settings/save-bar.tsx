"use client";

import {
  Affix,
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  Paper,
  Skeleton,
  Stack,
  Table,
  Text,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { SettingsVersion } from "../../../_api/console-router.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { changesSince, refusalOf } from "../../../_api/step-up.ts";
import { Failure } from "../../../_parts/answers.tsx";
import { useChange } from "../../../_parts/change.tsx";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { useLockOutQuestion } from "../../../_parts/lock-out.tsx";
import { LongName } from "../../../_parts/long-name.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { DryRun } from "./dry-run.tsx";
import { shownValue } from "./setting.tsx";
import { type Change, mergePatchOf } from "./setting-tree.ts";
import { Author, Changes } from "./version.tsx";

/** Stays in sight while there are changes. It shows them, and what they would do, before they are saved. */
export function SaveBar({
  changes,
  since,
  problem,
  secrets,
  onConflict,
  onDone,
}: {
  changes: Change[];
  /** When what they change was changed last. A change after that is told, rather than overwritten. */
  since: string | undefined;
  /** What contradicts in them; undefined for nothing. */
  problem: string | undefined;
  /** Names of the settings whose values are not shown. */
  secrets: ReadonlySet<string>;
  /** Makes them changes of what is in force now, before another decision. */
  onConflict(): Promise<void>;
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
      async onError(error) {
        if (error.data?.code !== "CONFLICT" || refusalOf(error) === "locks_out") return;
        await onConflict();
        dryRun.mutate({ tenant, body: { config } });
      },
    }),
    words.settings.saved,
  );
  if (changes.length === 0) return null;
  // Their fields say why.
  const named = changes.flatMap(({ name }) => (problem?.includes(name) ? [name] : []));
  const locksOut = (dryRun.data?.locked_out.count ?? 0) > 0;
  const shown = (name: string, value: unknown) =>
    secrets.has(name) && value !== undefined && value !== null ? "***" : shownValue(value);
  const others = changesSince(save.error);
  const review = () => {
    setConfirmed(false);
    save.reset();
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
            {problem === undefined
              ? words.settingField.changed(changes.length)
              : named.length > 0
                ? words.settings.cannotBeSaved(named)
                : problem}
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
            ...(since === undefined ? {} : { if_unchanged_since: since }),
            ...(locksOut ? { unless_locked_out: [] } : {}),
          };
          void guarded((confirmation) =>
            save.mutateAsync({ tenant, body: { ...change, ...confirmation } }),
          ).catch(() => {});
        }}
      >
        <Table aria-label={words.settings.reviewTitle} layout="fixed" className="stacked-table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="50%">{words.settings.setting}</Table.Th>
              <Table.Th>{words.settings.before}</Table.Th>
              <Table.Th>{words.settings.after}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map((change) => (
              <Table.Tr key={change.name}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  <LongName name={change.name} />
                </Table.Td>
                <Table.Td>
                  <Code style={{ overflowWrap: "anywhere" }}>{shown(change.name, change.before)}</Code>
                </Table.Td>
                <Table.Td>
                  <Code style={{ overflowWrap: "anywhere" }}>{shown(change.name, change.value)}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {others && <ChangedSince versions={others} />}
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

/** What other operators have changed while these changes were made: they are saved only by a second decision. */
function ChangedSince({ versions }: { versions: SettingsVersion[] }) {
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle size={18} />}
      title={words.settings.changedSince}
      role="alert"
    >
      <Stack gap="sm">
        <Text size="sm">{words.settings.changedSinceSentence}</Text>
        {versions.map((version) => (
          <Stack key={version.id} gap={4}>
            <Group gap="xs">
              <Author by={version.by} />
              <Moment at={version.created_at} />
            </Group>
            <Changes version={version} />
          </Stack>
        ))}
      </Stack>
    </Alert>
  );
}
