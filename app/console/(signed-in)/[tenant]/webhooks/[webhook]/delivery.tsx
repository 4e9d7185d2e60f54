"use client";

import { Badge, Button, Code, Drawer, Group, Paper, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { AccountLink } from "../../../../_parts/account-link.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { useChange } from "../../../../_parts/change.tsx";
import { Facts } from "../../../../_parts/facts.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { DeliveryState } from "./delivery-state.tsx";

type Found = AdminOperations["getWebhookDelivery"]["answer"];
type Attempt = Found["attempts"][number];

/**
 * One delivery with its attempts and its data, beside the list.
 *
 * @param id null: none is shown
 */
export function Delivery({ webhook, id, onClose }: { webhook: string; id: string | null; onClose(): void }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data, error, refetch } = useQuery({
    ...trpc.getWebhookDelivery.queryOptions({ tenant, id: webhook, delivery_id: id ?? "" }),
    enabled: id !== null,
  });
  const replay = useChange(
    trpc.replayWebhookDelivery.mutationOptions({ onSuccess: onClose }),
    words.webhooks.replayed,
  );
  return (
    <Drawer opened={id !== null} onClose={onClose} position="right" size="lg" title={words.webhooks.delivery}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton height={240} />}
      {data && id !== null && (
        <Stack>
          <Group justify="space-between">
            <Group gap="xs">
              <Text fw={500}>{data.event ?? words.webhooks.erasedEvent}</Text>
              <DeliveryState state={data.state} />
            </Group>
            {may("replayWebhookDelivery") && (
              <Button
                size="xs"
                leftSection={<IconRepeat size={14} />}
                loading={replay.isPending}
                disabled={data.state === "waiting"}
                onClick={() => replay.mutate({ tenant, id: webhook, delivery_id: id })}
              >
                {words.webhooks.replay}
              </Button>
            )}
          </Group>
          <About delivery={data} />
          <Stack gap="xs">
            <Title order={3} size="h6">
              {words.webhooks.attempts}
            </Title>
            {data.attempts.length === 0 && (
              <Text size="sm" c="dimmed">
                {words.none}
              </Text>
            )}
            {data.attempts.map((attempt) => (
              <OneAttempt key={attempt.number} attempt={attempt} />
            ))}
          </Stack>
          <Stack gap="xs">
            <Title order={3} size="h6">
              {words.webhooks.data}
            </Title>
            {data.data ? (
              <Code block tabIndex={0}>
                {JSON.stringify(data.data, null, 2)}
              </Code>
            ) : (
              <Text size="sm" c="dimmed">
                {words.webhooks.sealedData}
              </Text>
            )}
          </Stack>
        </Stack>
      )}
    </Drawer>
  );
}

function About({ delivery }: { delivery: Found }) {
  return (
    <Facts
      columns={2}
      facts={[
        [words.webhooks.time, <Moment key="time" at={delivery.created_at} />],
        delivery.finished_at
          ? [words.webhooks.finishedAt, <Moment key="finished" at={delivery.finished_at} />]
          : [words.webhooks.nextAttempt, <Moment key="next" at={delivery.next_attempt_at} />],
        [words.webhooks.eventId, <Identifier key="event" value={delivery.event_id} shortened />],
        ...(delivery.subject_id
          ? [[words.webhooks.user, <AccountLink key="user" id={delivery.subject_id} />] as const]
          : []),
        ...(delivery.flow_id
          ? [[words.webhooks.flow, <Identifier key="flow" value={delivery.flow_id} shortened />] as const]
          : []),
        ...(delivery.replay_of
          ? [
              [
                words.webhooks.replayOf,
                <Identifier key="replay" value={delivery.replay_of} shortened />,
              ] as const,
            ]
          : []),
      ]}
    />
  );
}

function OneAttempt({ attempt: { number, at, duration_ms, status, error, answer } }: { attempt: Attempt }) {
  const meaning = words.webhooks.errors[error as keyof typeof words.webhooks.errors];
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {words.webhooks.attempt(number)}
          </Text>
          <Badge variant="light" color={error === null ? "teal" : "red"} tt="none" radius="sm">
            {status ?? error}
          </Badge>
          <Text size="sm" c="dimmed">
            {words.webhooks.milliseconds(duration_ms)}
          </Text>
        </Group>
        <Moment at={at} />
      </Group>
      {error !== null && (
        <Text size="sm" mt={4}>
          {meaning ?? error}
        </Text>
      )}
      {answer !== null && (
        <Code block mt="xs" tabIndex={0}>
          {answer}
        </Code>
      )}
    </Paper>
  );
}
