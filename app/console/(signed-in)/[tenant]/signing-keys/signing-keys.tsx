"use client";

import { Badge, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { useMay, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { SealingKeys } from "./sealing-keys.tsx";

type Key = AdminOperations["listSigningKeys"]["answer"][number];

const texts = words.signingKeys;

const purposes = Object.keys(texts.purposes) as Key["purpose"][];

const colors: Record<Key["state"], string> = {
  next: "blue",
  signing: "teal",
  former: "gray",
  archived: "gray",
};

/** The keys that sign for the tenant, and those that the secrets of the service are sealed with. */
export function SigningKeys() {
  const may = useMay();
  return (
    <>
      <PageHead title={texts.title} sentence={texts.sentence} />
      {purposes.map((purpose) => (
        <KeysOf key={purpose} purpose={purpose} />
      ))}
      {may("getSecretKeys") && <SealingKeys />}
    </>
  );
}

function KeysOf({ purpose }: { purpose: Key["purpose"] }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = useQuery(trpc.listSigningKeys.queryOptions({ tenant }));
  const rotate = useChange(trpc.rotateSigningKey.mutationOptions(), texts.rotated);
  const ofPurpose = listed.data?.filter((key) => key.purpose === purpose);
  const columns: Column<Key>[] = [
    {
      id: "key",
      header: texts.key,
      cell: ({ row: { original } }) => <Identifier value={original.id} shortened />,
    },
    {
      id: "state",
      header: texts.state,
      cell: ({ row: { original } }) => (
        <Stack gap={2} align="flex-start">
          <Badge variant="light" color={colors[original.state]} tt="none">
            {texts.states[original.state]}
          </Badge>
          <Text size="xs" c="dimmed">
            {texts.meanings[original.state]}
          </Text>
        </Stack>
      ),
    },
    {
      id: "algorithm",
      header: texts.algorithm,
      cell: ({ row }) => <Text size="sm">{row.original.algorithm}</Text>,
    },
    {
      id: "created",
      header: texts.createdAt,
      cell: ({ row }) => <Moment at={row.original.created_at} />,
    },
    {
      id: "signs",
      header: texts.signsFrom,
      cell: ({ row }) => <Moment at={row.original.signs_from} />,
    },
    {
      id: "published",
      header: texts.publishedUntil,
      cell: ({ row }) => <Moment at={row.original.published_until} fallback={texts.notRetired} />,
    },
  ];
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" mih={36}>
        <Title order={2} size="h4">
          {texts.purposes[purpose]}
        </Title>
        {may("rotateSigningKey") && (
          <ConfirmedButton
            label={texts.rotate}
            about={texts.purposes[purpose]}
            title={texts.rotateQuestion}
            color="indigo"
            loading={rotate.isPending}
            onConfirm={() => rotate.mutateAsync({ tenant, body: { purpose } })}
          >
            {texts.rotateConsequence}
          </ConfirmedButton>
        )}
      </Group>
      <DataTable
        label={texts.purposes[purpose]}
        {...wholeList({ ...listed, data: ofPurpose })}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={texts.empty} sentence={texts.emptySentence} />}
      />
    </Stack>
  );
}
