"use client";

import { Badge, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconEye, IconMail, IconMessage } from "@tabler/icons-react";
import Link from "next/link";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { AccountLink } from "../../../_parts/account-link.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable } from "../../../_parts/data-table.tsx";
import { OptionField, OptionsField, SearchField, TimeSpanFields } from "../../../_parts/filters.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Message = AdminOperations["listMessages"]["answer"]["items"][number];
type Outcome = Message["outcome"];
type Channel = Message["channel"];

const SIZE = 50;

const optionsOf = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

const isOutcome = (name: string): name is Outcome => Object.hasOwn(words.messages.outcomes, name);
const isChannel = (name: string): name is Channel => Object.hasOwn(words.messages.channels, name);

/** What became of mails and SMS. */
export function Messages() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const [value] = useSearchState();
  const outcomes = value("outcome").split(",").filter(isOutcome);
  const channel = value("channel");
  const filter = {
    ...(isChannel(channel) ? { channel } : {}),
    ...(outcomes.length > 0 ? { outcome: outcomes } : {}),
    ...(value("kind") ? { kind: value("kind") } : {}),
    ...(value("recipient") ? { recipient: value("recipient") } : {}),
    ...(value("user") ? { user_id: value("user") } : {}),
    ...(value("from") ? { start_time: value("from") } : {}),
    ...(value("to") ? { end_time: value("to") } : {}),
  };
  const listed = usePagedList(
    (page) => trpc.listMessages.queryOptions({ tenant, query: { ...filter, ...page } }),
    { size: SIZE },
  );
  return (
    <>
      <PageHead title={words.pages.messages} sentence={words.messages.sentence}>
        {may("previewMessages") && (
          <Button
            component={Link}
            href={pathOf("messages/previews")}
            variant="default"
            leftSection={<IconEye size={16} />}
          >
            {words.messagePreviews.open}
          </Button>
        )}
      </PageHead>
      <Group gap="sm" align="flex-end">
        <SearchField
          name="recipient"
          label={words.messages.recipient}
          placeholder={words.messages.recipientHint}
          width={300}
        />
        <OptionField
          name="channel"
          label={words.messages.channel}
          options={optionsOf(words.messages.channels)}
          all={words.any}
          width={110}
        />
        <OptionsField
          name="outcome"
          label={words.messages.outcome}
          options={optionsOf(words.messages.outcomes)}
          width={220}
        />
        <SearchField
          name="kind"
          label={words.messages.kind}
          placeholder={words.messages.kindHint}
          width={160}
        />
        <TimeSpanFields />
      </Group>
      <DataTable
        label={words.pages.messages}
        {...listed}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={words.messages.empty} sentence={words.messages.emptySentence} />}
      />
    </>
  );
}

const colors: Record<Outcome, string> = {
  queued: "gray",
  accepted: "teal",
  failed: "red",
  withheld: "yellow",
};

const columns: Column<Message>[] = [
  {
    id: "time",
    header: words.messages.time,
    cell: ({ row }) => <Moment at={row.original.at} />,
  },
  {
    id: "channel",
    header: words.messages.channel,
    cell: ({ row: { original } }) => (
      <Group gap={6} wrap="nowrap">
        {original.channel === "mail" ? <IconMail size={16} /> : <IconMessage size={16} />}
        <Text size="sm">{words.messages.channels[original.channel]}</Text>
      </Group>
    ),
  },
  {
    id: "kind",
    header: words.messages.kind,
    cell: ({ row }) => <Code>{row.original.kind}</Code>,
  },
  {
    id: "outcome",
    header: words.messages.outcome,
    cell: ({ row: { original } }) => (
      <Badge variant="light" color={colors[original.outcome]}>
        {words.messages.outcomes[original.outcome]}
      </Badge>
    ),
  },
  {
    id: "recipient",
    header: words.messages.recipient,
    cell: ({ row }) => (
      <Text size="sm" style={{ whiteSpace: "nowrap" }}>
        {row.original.recipient}
      </Text>
    ),
  },
  {
    id: "user",
    header: words.messages.user,
    cell: ({ row: { original } }) => original.user_id && <AccountLink id={original.user_id} />,
  },
  {
    id: "details",
    header: words.messages.details,
    cell: ({ row }) => <Details message={row.original} />,
  },
];

function Details({ message }: { message: Message }) {
  const { attempts, answer, reason, detail, last_failure, request_id } = message;
  const texts = [reason, detail, answer, last_failure].filter((text) => text !== undefined);
  return (
    <Stack gap={2} miw={200} maw={420}>
      {attempts !== undefined && <Text size="xs">{words.messages.attempts(attempts)}</Text>}
      {[...new Set(texts)].map((text) => (
        <Text key={text} size="xs" style={{ overflowWrap: "anywhere" }}>
          {text}
        </Text>
      ))}
      {request_id && <Identifier value={request_id} shortened />}
    </Stack>
  );
}
