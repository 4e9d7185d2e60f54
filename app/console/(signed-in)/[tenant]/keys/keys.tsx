"use client";

import { Badge, Button, Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { ShownOnce } from "../../../_parts/shown-once.tsx";
import { useMay, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Key = AdminOperations["listApiKeys"]["answer"][number];
type Interface = Key["interface"];

const interfaces = Object.keys(words.keys.meanings) as Interface[];

/** The API keys of the tenant. */
export function Keys() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const listed = useQuery(trpc.listApiKeys.queryOptions({ tenant }));
  const remove = useChange(trpc.deleteApiKey.mutationOptions(), words.keys.deleted);
  const columns: Column<Key>[] = [
    {
      id: "name",
      header: words.keys.name,
      cell: ({ row: { original } }) => (
        <Stack gap={0} align="flex-start">
          <Text size="sm" {...(original.name ? {} : { c: "dimmed" })} style={{ overflowWrap: "break-word" }}>
            {original.name || words.keys.unnamed}
          </Text>
          <Identifier value={original.id} shortened />
        </Stack>
      ),
    },
    {
      id: "interface",
      header: words.keys.interface,
      cell: ({ row }) => (
        <Badge variant="light" tt="none">
          {row.original.interface}
        </Badge>
      ),
    },
    {
      id: "created",
      header: words.keys.createdAt,
      cell: ({ row }) => <Moment at={row.original.created_at} />,
    },
    {
      id: "used",
      header: words.keys.lastUsed,
      cell: ({ row }) => <Moment at={row.original.last_used_at} />,
    },
    {
      id: "actions",
      header: actionsHeader,
      cell: ({ row: { original } }) =>
        may("deleteApiKey") && (
          <Group justify="flex-end">
            <ConfirmedButton
              label={words.delete}
              about={original.name || original.id}
              title={words.keys.deleteQuestion(original.name || original.id)}
              loading={remove.isPending}
              onConfirm={() => remove.mutateAsync({ tenant, id: original.id })}
            >
              {words.keys.deleteConsequence}
            </ConfirmedButton>
          </Group>
        ),
    },
  ];
  return (
    <>
      <PageHead title={words.pages.keys} sentence={words.keys.sentence}>
        {may("createApiKey") && <CreateKey />}
      </PageHead>
      <DataTable
        label={words.pages.keys}
        {...wholeList(listed)}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={words.keys.empty} sentence={words.keys.emptySentence} />}
      />
    </>
  );
}

/** Makes a key, and shows it once. */
function CreateKey() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Interface>("admin");
  const [key, setKey] = useState<string | null>(null);
  const create = useChange(
    trpc.createApiKey.mutationOptions({
      onSuccess(made) {
        close();
        setName("");
        setKey(made.key);
      },
    }),
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.keys.create}
      </Button>
      <FormModal
        title={words.keys.create}
        opened={isOpen}
        onClose={close}
        submit={words.keys.create}
        loading={create.isPending}
        onSubmit={() => create.mutate({ tenant, body: { interface: chosen, name } })}
      >
        <TextInput
          label={words.keys.name}
          description={words.keys.nameHint}
          maxLength={200}
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Radio.Group
          label={words.keys.interface}
          value={chosen}
          onChange={(value) => setChosen(value as Interface)}
        >
          <Stack gap="xs" mt="xs">
            {interfaces.map((value) => (
              <Radio key={value} value={value} label={value} description={words.keys.meanings[value]} />
            ))}
          </Stack>
        </Radio.Group>
      </FormModal>
      <ShownOnce
        title={words.keys.keyTitle}
        label={words.keys.key}
        value={key}
        onClose={() => setKey(null)}
      />
    </>
  );
}
