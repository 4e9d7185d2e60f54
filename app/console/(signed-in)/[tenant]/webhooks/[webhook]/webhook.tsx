"use client";

import { Button, NumberInput, Skeleton, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSend } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure } from "../../../../_parts/answers.tsx";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Facts } from "../../../../_parts/facts.tsx";
import { FormModal } from "../../../../_parts/form-modal.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { ShownOnce } from "../../../../_parts/shown-once.tsx";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { WebhookForm } from "../webhook-form.tsx";
import { WebhookState } from "../webhook-state.tsx";
import { Deliveries } from "./deliveries.tsx";

type Stored = AdminOperations["getWebhook"]["answer"];

/** One webhook with its deliveries. */
export function Webhook({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { data, error, refetch } = useQuery(trpc.listWebhooks.queryOptions({ tenant }));
  const test = useChange(trpc.testWebhook.mutationOptions(), words.webhooks.tested);
  const stored = data?.database.find((webhook) => webhook.id === id) ?? null;
  const configured = data?.config.find((webhook) => webhook.id === id);
  const callback = stored?.callback ?? configured?.callback;
  const toAll = <BackLink to="webhooks" label={words.pages.webhooks} />;
  if (data && !stored && !configured)
    return (
      <>
        {toAll}
        <PageHead title={words.pages.webhooks} />
        <Empty {...words.webhooks.missing} />
      </>
    );
  return (
    <>
      {toAll}
      <PageHead title={callback ?? words.pages.webhooks} sentence={configured && words.webhooks.configured}>
        {may("testWebhook") && (
          <Button
            variant="default"
            leftSection={<IconSend size={16} />}
            loading={test.isPending}
            disabled={stored?.enabled === false}
            onClick={() => test.mutate({ tenant, id })}
          >
            {words.webhooks.test}
          </Button>
        )}
        {stored && may("updateWebhook") && <Edit webhook={stored} />}
        {stored && may("rotateWebhookSecret") && <RotateSecret id={id} />}
        {stored && may("deleteWebhook") && <Delete id={id} />}
      </PageHead>
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton height={150} />}
      {stored && (
        <Facts
          facts={[
            [words.webhooks.state, <WebhookState key="state" webhook={stored} />],
            [words.webhooks.failures, stored.failures],
            [words.webhooks.events, stored.events.map(({ event }) => event).join(", ")],
            [words.webhooks.createdAt, <Moment key="created" at={stored.created_at} />],
            ...(stored.expires
              ? [[words.webhooks.expiresAt, <Moment key="expires" at={stored.expires_at} />] as const]
              : []),
            [words.webhooks.id, <Identifier key="id" value={id} />],
          ]}
        />
      )}
      {configured && (
        <Facts
          facts={[
            [words.webhooks.state, <WebhookState key="state" webhook={null} />],
            [words.webhooks.events, configured.events.join(", ")],
            [words.webhooks.id, <Identifier key="id" value={id} />],
          ]}
        />
      )}
      <Deliveries id={id} />
    </>
  );
}

function Edit({ webhook }: { webhook: Stored }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const change = useChange(trpc.updateWebhook.mutationOptions({ onSuccess: close }), words.webhooks.edited);
  const { id, callback, enabled } = webhook;
  return (
    <>
      <Button variant="default" onClick={open}>
        {words.edit}
      </Button>
      <WebhookForm
        title={words.webhooks.edit}
        opened={isOpen}
        onClose={close}
        loading={change.isPending}
        current={{ callback, enabled, events: webhook.events.map(({ event }) => event) }}
        onSave={(body) => change.mutate({ tenant, id, body })}
      />
    </>
  );
}

const SECONDS_PER_HOUR = 3_600;
const DEFAULT_OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 30 * 24;

function RotateSecret({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [hours, setHours] = useState<number | string>(DEFAULT_OVERLAP_HOURS);
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useChange(
    trpc.rotateWebhookSecret.mutationOptions({
      onSuccess(webhook) {
        close();
        setSecret(webhook.secret);
      },
    }),
  );
  return (
    <>
      <Button variant="default" onClick={open}>
        {words.webhooks.rotate}
      </Button>
      <FormModal
        title={words.webhooks.rotateTitle}
        opened={isOpen}
        onClose={close}
        submit={words.webhooks.rotate}
        loading={rotate.isPending}
        disabled={typeof hours !== "number"}
        onSubmit={() =>
          rotate.mutate({ tenant, id, body: { overlap_seconds: Number(hours) * SECONDS_PER_HOUR } })
        }
      >
        <Text size="sm">{words.webhooks.rotateSentence}</Text>
        <NumberInput
          label={words.webhooks.overlap}
          min={0}
          max={MAX_OVERLAP_HOURS}
          allowDecimal={false}
          value={hours}
          onChange={setHours}
          data-autofocus
        />
      </FormModal>
      <ShownOnce
        title={words.webhooks.secretTitle}
        label={words.webhooks.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

function Delete({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const remove = useChange(trpc.deleteWebhook.mutationOptions(), words.webhooks.deleted, {
    leadsTo: pathOf("webhooks"),
  });
  return (
    <ConfirmedButton
      label={words.delete}
      title={words.webhooks.deleteQuestion}
      loading={remove.isPending}
      onConfirm={() => remove.mutateAsync({ tenant, id })}
    >
      {words.webhooks.deleteConsequence}
    </ConfirmedButton>
  );
}
