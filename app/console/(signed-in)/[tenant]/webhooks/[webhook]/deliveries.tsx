"use client";

import { Badge, Button, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconRepeat } from "@tabler/icons-react";
import dayjs from "dayjs";
import { useState } from "react";
import { emittedEventNames } from "#server/config/event-names";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { useChange } from "../../../../_parts/change.tsx";
import { type Column, DataTable } from "../../../../_parts/data-table.tsx";
import { DateTime } from "../../../../_parts/date-time.tsx";
import { OptionField, TimeSpanFields } from "../../../../_parts/filters.tsx";
import { FormModal } from "../../../../_parts/form-modal.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { usePagedList } from "../../../../_parts/paged-list.ts";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Delivery } from "./delivery.tsx";
import { DeliveryState } from "./delivery-state.tsx";

type Listed = AdminOperations["listWebhookDeliveries"]["answer"]["items"][number];
type State = Listed["state"];

/** How often the list is read while a delivery waits. */
const WAITING_MS = 3_000;

const PICKED = "YYYY-MM-DD HH:mm:ss";

const events = ["test", ...emittedEventNames].map((name) => ({ value: name, label: name }));

const states = Object.entries(words.webhooks.states).map(([value, label]) => ({ value, label }));

/** The deliveries of a webhook, filtered by what the address says, and the one that it names. */
export function Deliveries({
  id,
  empty = { title: words.webhooks.noDeliveries, sentence: words.webhooks.noDeliveriesSentence },
}: {
  id: string;
  /** What stands in place of an empty list. */
  empty?: { title: string; sentence: string };
}) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const [value, change] = useSearchState();
  const state = (value("state") || undefined) as State | undefined;
  const query = {
    ...(state ? { state } : {}),
    ...(value("event") ? { event: value("event") } : {}),
    ...(value("from") ? { start_time: value("from") } : {}),
    ...(value("to") ? { end_time: value("to") } : {}),
  };
  const listed = usePagedList(
    (page) => trpc.listWebhookDeliveries.queryOptions({ tenant, id, query: { ...query, ...page } }),
    { rereadMs: (items) => items.some(({ state }) => state === "waiting") && WAITING_MS },
  );
  const columns: Column<Listed>[] = [
    { id: "time", header: words.webhooks.time, cell: ({ row }) => <Moment at={row.original.created_at} /> },
    {
      id: "event",
      header: words.webhooks.event,
      cell: ({ row }) => (
        <Button
          variant="transparent"
          size="compact-sm"
          px={0}
          fw={500}
          onClick={() => change({ delivery: row.original.id }, { keepsPage: true })}
        >
          {row.original.event ?? words.webhooks.erasedEvent}
        </Button>
      ),
    },
    {
      id: "state",
      header: words.webhooks.state,
      cell: ({ row: { original } }) => (
        <Group gap={4}>
          <DeliveryState state={original.state} />
          {original.replay_of && (
            <Badge variant="default" fw={400} tt="none">
              {words.webhooks.again}
            </Badge>
          )}
        </Group>
      ),
    },
    {
      id: "attempts",
      header: words.webhooks.attempts,
      cell: ({ row }) => <Text size="sm">{row.original.attempts.length}</Text>,
    },
    {
      id: "answer",
      header: words.webhooks.answer,
      cell: ({ row }) => <LastAnswer delivery={row.original} />,
    },
    {
      id: "next",
      header: words.webhooks.nextAttempt,
      cell: ({ row }) => <Moment at={row.original.next_attempt_at} fallback="" />,
    },
  ];
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {words.webhooks.deliveries}
        </Title>
        {may("replayWebhookDeliveries") && <ReplayRange id={id} />}
      </Group>
      <Group gap="sm" align="flex-end">
        <OptionField name="state" label={words.webhooks.state} options={states} all={words.any} width={150} />
        <OptionField name="event" label={words.webhooks.event} options={events} all={words.any} width={260} />
        <TimeSpanFields />
      </Group>
      <DataTable
        label={words.webhooks.deliveries}
        {...listed}
        columns={columns}
        idOf={(delivery) => delivery.id}
        empty={<Empty {...empty} />}
      />
      <Delivery
        webhook={id}
        id={value("delivery") || null}
        onClose={() => change({ delivery: "" }, { keepsPage: true })}
      />
    </Stack>
  );
}

function LastAnswer({ delivery: { attempts } }: { delivery: Listed }) {
  const last = attempts.at(-1);
  if (!last) return null;
  return (
    <Badge variant="light" color={last.error === null ? "teal" : "red"} tt="none" radius="sm">
      {last.status ?? last.error}
    </Badge>
  );
}

/** Delivers the events of a time range again. It begins with the range of the filter. */
function ReplayRange({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const [state, setState] = useState<string | null>("failed");
  const [count, setCount] = useState<number | null>(null);
  const replay = useChange(
    trpc.replayWebhookDeliveries.mutationOptions({ onSuccess: ({ deliveries }) => setCount(deliveries) }),
  );
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRepeat size={16} />}
        onClick={() => {
          setFrom(dayjs().subtract(1, "day").format(PICKED));
          setCount(null);
          open();
        }}
      >
        {words.webhooks.replayMany}
      </Button>
      <FormModal
        title={words.webhooks.replayMany}
        opened={isOpen}
        onClose={close}
        submit={words.webhooks.replay}
        loading={replay.isPending}
        disabled={from === null}
        onSubmit={() =>
          replay.mutate({
            tenant,
            id,
            body: {
              start_time: dayjs(from).toISOString(),
              ...(to ? { end_time: dayjs(to).toISOString() } : {}),
              ...(state === "failed" || state === "delivered" ? { state } : {}),
            },
          })
        }
      >
        <Text size="sm">{words.webhooks.replayManySentence}</Text>
        <DateTime label={words.range.from} value={from} onChange={setFrom} required data-autofocus />
        <DateTime label={words.range.to} value={to} onChange={setTo} clearable />
        <Select
          label={words.webhooks.state}
          placeholder={words.any}
          data={states.filter(({ value }) => value !== "waiting")}
          value={state}
          onChange={setState}
          clearable
          clearButtonProps={{ "aria-label": words.clear }}
        />
        <Text size="sm" role="status" mih={22}>
          {count === null ? "" : words.webhooks.replayedMany(count)}
        </Text>
      </FormModal>
    </>
  );
}
