"use client";

import { Anchor, Badge, Button, Group, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../_parts/change.tsx";
import { actionsHeader, type Column, DataTable } from "../../../_parts/data-table.tsx";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { Moment } from "../../../_parts/moment.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { usePagedList } from "../../../_parts/paged-list.ts";
import { useMay } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";

type Tenant = AdminOperations["listTenants"]["answer"]["items"][number];

/** All tenants, for operators. */
export function Tenants() {
  const trpc = useTRPC();
  const may = useMay();
  const listed = usePagedList((page) => trpc.listTenants.queryOptions({ query: page }));
  const columns: Column<Tenant>[] = [
    {
      id: "name",
      header: words.tenants.name,
      cell: ({ row: { original } }) => (
        <Stack gap={0} align="flex-start">
          <Group gap="xs" wrap="nowrap">
            <Anchor component={Link} size="sm" fw={500} href={`/console/${original.id}`}>
              {original.name}
            </Anchor>
            {original.default && (
              <Badge variant="light" tt="none">
                {words.tenants.isDefault}
              </Badge>
            )}
          </Group>
          <Identifier value={original.id} shortened />
        </Stack>
      ),
    },
    {
      id: "address",
      header: words.tenants.address,
      cell: ({ row: { original } }) => (
        <Stack gap={4} align="flex-start">
          {original.base_url ? (
            <Text size="sm" style={{ overflowWrap: "break-word" }}>
              {original.base_url}
            </Text>
          ) : (
            <Badge color="red" variant="light" tt="none">
              {words.tenants.invalid}
            </Badge>
          )}
          {original.warnings.length > 0 && (
            <Badge color="yellow" variant="light" tt="none" title={original.warnings.join("\n")}>
              {words.tenants.warnings(original.warnings.length)}
            </Badge>
          )}
        </Stack>
      ),
    },
    {
      id: "hosts",
      header: words.tenants.hosts,
      cell: ({ row }) => <Text size="sm">{row.original.hosts.join(", ")}</Text>,
    },
    {
      id: "created",
      header: words.tenants.createdAt,
      cell: ({ row }) => <Moment at={row.original.created_at} />,
    },
    {
      id: "actions",
      header: actionsHeader,
      cell: ({ row: { original } }) =>
        !original.default && (
          <Group justify="flex-end" gap="xs" wrap="nowrap">
            {may("changeTenant") && <EditTenant tenant={original} />}
            {may("deleteTenant") && <DeleteTenant tenant={original} />}
          </Group>
        ),
    },
  ];
  return (
    <>
      <PageHead title={words.pages.tenants} sentence={words.tenants.sentence}>
        {may("createTenant") && <CreateTenant />}
      </PageHead>
      <DataTable
        label={words.pages.tenants}
        {...listed}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty title={words.tenants.empty} />}
      />
    </>
  );
}

function CreateTenant() {
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const create = useChange(trpc.createTenant.mutationOptions({ onSuccess: close }), words.tenants.created);
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.tenants.create}
      </Button>
      {isOpen && (
        <TenantForm
          title={words.tenants.create}
          current={{ name: "", hosts: [] }}
          onClose={close}
          loading={create.isPending}
          onSave={(body) => create.mutate({ body })}
        />
      )}
    </>
  );
}

function EditTenant({ tenant: { id, name, hosts } }: { tenant: Tenant }) {
  const trpc = useTRPC();
  const [isOpen, { open, close }] = useDisclosure(false);
  const change = useChange(trpc.changeTenant.mutationOptions({ onSuccess: close }), words.tenants.changed);
  return (
    <>
      <Button variant="default" onClick={open} aria-label={`${words.edit} ${name}`}>
        {words.edit}
      </Button>
      {isOpen && (
        <TenantForm
          title={words.tenants.change}
          current={{ name, hosts }}
          onClose={close}
          loading={change.isPending}
          onSave={(body) => change.mutate({ id, body })}
        />
      )}
    </>
  );
}

interface Values {
  name: string;
  hosts: string[];
}

function TenantForm({
  title,
  current,
  onClose,
  loading,
  onSave,
}: {
  title: string;
  current: Values;
  onClose(): void;
  loading: boolean;
  onSave(values: Values): void;
}) {
  const [name, setName] = useState(current.name);
  const [hosts, setHosts] = useState(current.hosts);
  return (
    <FormModal
      title={title}
      opened
      onClose={onClose}
      loading={loading}
      disabled={name.trim() === ""}
      onSubmit={() => onSave({ name, hosts })}
    >
      <TextInput
        label={words.tenants.name}
        required
        maxLength={200}
        data-autofocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TagsInput
        label={words.tenants.hosts}
        description={words.tenants.hostsHint}
        placeholder="login.example.com"
        maxTags={100}
        clearable
        clearButtonProps={{ "aria-label": words.clear }}
        value={hosts}
        onChange={setHosts}
      />
    </FormModal>
  );
}

/** Tells what will go with the tenant, and asks for its name. */
function DeleteTenant({ tenant: { id, name } }: { tenant: Tenant }) {
  const trpc = useTRPC();
  const remove = useChange(trpc.deleteTenant.mutationOptions(), words.tenants.deleted);
  return (
    <ConfirmedButton
      label={words.delete}
      title={words.tenants.deleteQuestion}
      typed={name}
      about={name}
      loading={remove.isPending}
      onConfirm={() => remove.mutateAsync({ id, query: { with_users: true } })}
    >
      <WhatWillGo id={id} />
    </ConfirmedButton>
  );
}

/** Read when the question is asked. */
function WhatWillGo({ id }: { id: string }) {
  const { data } = useQuery(useTRPC().getStatistics.queryOptions({ tenant: id }));
  const users = data ? words.tenants.users(data.users.total) : words.tenants.counting;
  return words.tenants.deleteConsequence(users);
}
