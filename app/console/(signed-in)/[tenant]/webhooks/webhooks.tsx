"use client";

import { Anchor, Badge, Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { useChange } from "../../../_parts/change.tsx";
import { type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { ShownOnce } from "../../../_parts/shown-once.tsx";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookState } from "./webhook-state.tsx";

/** A webhook of the list: a stored one, or one of the configuration, which has no state. */
interface Listed {
  id: string;
  callback: string;
  events: string[];
  stored: { enabled: boolean; failures: number; created_at: string } | null;
}

const SHOWN_EVENTS = 3;

/** The webhooks of the tenant. */
export function Webhooks() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data, ...found } = useQuery(trpc.listWebhooks.queryOptions({ tenant }));
  const listed = data && [
    ...data.database.map(
      (stored): Listed => ({ ...stored, events: stored.events.map(({ event }) => event), stored }),
    ),
    ...data.config.map((configured): Listed => ({ ...configured, stored: null })),
  ];
  const addressOf = ({ id }: Listed) => pathOf(`webhooks/${encodeURIComponent(id)}`);
  const columns: Column<Listed>[] = [
    {
      id: "callback",
      header: words.webhooks.callback,
      cell: ({ row: { original } }) => (
        <Anchor component={Link} size="sm" href={addressOf(original)} style={{ overflowWrap: "break-word" }}>
          {original.callback}
        </Anchor>
      ),
    },
    {
      id: "state",
      header: words.webhooks.state,
      cell: ({ row }) => <WebhookState webhook={row.original.stored} />,
    },
    {
      id: "events",
      header: words.webhooks.events,
      cell: ({ row }) => <Events names={row.original.events} />,
    },
    {
      id: "created",
      header: words.webhooks.createdAt,
      cell: ({ row }) => <Moment at={row.original.stored?.created_at} fallback="" />,
    },
  ];
  return (
    <>
      <PageHead title={words.pages.webhooks} sentence={words.webhooks.sentence}>
        {may("createWebhook") && <CreateWebhook />}
      </PageHead>
      <DataTable
        label={words.pages.webhooks}
        {...wholeList({ ...found, data: listed })}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={addressOf}
        empty={<Empty title={words.webhooks.empty} sentence={words.webhooks.emptySentence} />}
      />
    </>
  );
}

function Events({ names }: { names: string[] }) {
  const others = names.length - SHOWN_EVENTS;
  return (
    <Group gap={4}>
      {names.slice(0, SHOWN_EVENTS).map((name) => (
        <Badge key={name} variant="default" tt="none" fw={400} radius="sm">
          {name}
        </Badge>
      ))}
      {others > 0 && (
        <Badge variant="default" fw={400} radius="sm" title={names.slice(SHOWN_EVENTS).join(", ")}>
          +{others}
        </Badge>
      )}
    </Group>
  );
}

/** Makes a webhook, and shows its secret once. */
function CreateWebhook() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<string | null>(null);
  const create = useChange(
    trpc.createWebhook.mutationOptions({
      onSuccess(made) {
        close();
        setSecret(made.secret);
      },
    }),
    words.webhooks.created,
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.webhooks.create}
      </Button>
      <WebhookForm
        title={words.webhooks.create}
        opened={isOpen}
        onClose={close}
        loading={create.isPending}
        onSave={({ callback, events }) => create.mutate({ tenant, body: { callback, events } })}
      />
      <ShownOnce
        title={words.webhooks.secretTitle}
        label={words.webhooks.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}
