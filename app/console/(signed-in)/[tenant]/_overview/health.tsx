"use client";

import { Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Moment } from "../../../_parts/moment.tsx";
import { words } from "../../../_words.ts";
import type { OverviewAnswer } from "./overview-answer.ts";

const channels = ["mail", "sms"] as const;

/** Whether messages and deliveries arrive, and what runs. */
export function Health({ overview }: { overview: OverviewAnswer }) {
  const { current, messages, deliveries, version } = overview;
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {words.overview.health}
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm">
        {channels.map((channel) => {
          const { waiting, failing_since, set_up } = messages[channel];
          const { sent, failed } = current.messages[channel];
          return (
            <Part
              key={channel}
              name={words.overview.channels[channel]}
              state={!set_up ? "none" : failing_since ? "failing" : failed > 0 ? "some" : "well"}
              sentence={
                set_up || sent + failed + waiting.count > 0
                  ? words.overview.messages(sent, failed, words.overview.bounded(waiting))
                  : words.overview.notSetUp[channel]
              }
            >
              {failing_since && (
                <Text size="sm">
                  {words.overview.failingSince} <Moment at={failing_since} />
                </Text>
              )}
            </Part>
          );
        })}
        <Part
          name={words.overview.webhooks}
          state={deliveries.failing > 0 ? "failing" : current.deliveries.failed > 0 ? "some" : "well"}
          sentence={words.overview.deliveries(current.deliveries, words.overview.bounded(deliveries.waiting))}
        />
        <Part
          name={words.overview.version}
          sentence={words.overview.versions(version.service, version.schema)}
        />
      </SimpleGrid>
    </Stack>
  );
}

const colours = { none: "gray", well: "teal", some: "orange", failing: "red" } as const;

function Part({
  name,
  state,
  sentence,
  children,
}: {
  name: string;
  state?: keyof typeof colours;
  sentence: string;
  children?: ReactNode;
}) {
  return (
    <Paper withBorder p="sm">
      <Stack gap={4}>
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="sm" fw={500}>
            {name}
          </Text>
          {state && (
            <Badge variant="light" color={colours[state]} tt="none">
              {words.overview.states[state]}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {sentence}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
