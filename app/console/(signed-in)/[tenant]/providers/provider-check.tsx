"use client";

import { Button, Group, List, Skeleton, Text, ThemeIcon } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconX } from "@tabler/icons-react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { Failure } from "../../../_parts/answers.tsx";
import { Panel } from "../../../_parts/panel.tsx";
import { words } from "../../../_words.ts";

type Finding = AdminOperations["checkOAuthProvider"]["answer"][number];

const marks = {
  ok: { color: "teal", icon: IconCheck },
  warning: { color: "yellow", icon: IconAlertTriangle },
  error: { color: "red", icon: IconX },
} as const;

/** A check of a provider, as `useMutation` gives it. */
export interface Check {
  data: Finding[] | undefined;
  error: { message: string } | null;
  isPending: boolean;
}

/** What a check of a provider has found, with the button that begins it. */
export function ProviderCheck({ check, onCheck }: { check: Check; onCheck(): void }) {
  return (
    <Panel
      title={words.providers.check.title}
      sentence={words.providers.check.sentence}
      action={
        <Button variant="default" onClick={onCheck} loading={check.isPending} style={{ flexShrink: 0 }}>
          {words.providers.check.begin}
        </Button>
      }
    >
      <Findings check={check} />
    </Panel>
  );
}

/** The findings, the faults first. */
export function Findings({ check: { data, error, isPending } }: { check: Check }) {
  if (isPending) return <Skeleton height={120} />;
  if (error) return <Failure error={error} />;
  if (!data) return null;
  const count = (outcome: Finding["outcome"]) => data.filter((finding) => finding.outcome === outcome).length;
  const sorted = data.toSorted((one, other) => weight(other) - weight(one));
  return (
    <>
      <Text size="sm" fw={500} role="status">
        {words.providers.check.summary(count("error"), count("warning"))}
      </Text>
      <List spacing="xs" size="sm" center={false} listStyleType="none">
        {sorted.map(({ check, outcome, message }) => {
          const { color, icon: Icon } = marks[outcome];
          return (
            <List.Item key={`${check} ${message}`}>
              <Group gap="xs" wrap="nowrap" align="flex-start">
                <ThemeIcon size="sm" radius="xl" variant="light" color={color}>
                  <Icon size={14} role="img" aria-label={words.providers.check.outcomes[outcome]} />
                </ThemeIcon>
                <Text size="sm" style={{ overflowWrap: "anywhere", minWidth: 0 }}>
                  <Text span size="sm" fw={500}>
                    {words.providers.check.names[check]}
                  </Text>{" "}
                  {message}
                </Text>
              </Group>
            </List.Item>
          );
        })}
      </List>
    </>
  );
}

const weight = ({ outcome }: Finding) => Object.keys(marks).indexOf(outcome);
