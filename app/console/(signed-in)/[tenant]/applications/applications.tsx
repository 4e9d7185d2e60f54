"use client";

import { Alert, Anchor, Badge, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconInfoCircle, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { useChange } from "../../../_parts/change.tsx";
import { type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import type { DeclaredSettings } from "../../../_parts/declared-settings.ts";
import { Facts } from "../../../_parts/facts.tsx";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { OfConfiguration, useOwnTenant } from "../../../_parts/own-tenant.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { type Patch, SettingsFields } from "../../../_parts/settings-form.tsx";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { UnlistedApplications } from "./unlisted.tsx";

type Client = AdminOperations["listOpenidClients"]["answer"][number];
type Body = NonNullable<AdminOperations["createOpenidClient"]["input"]["body"]>;

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** How a client authenticates: by a secret, by its keys, or not at all. */
export function authenticationOf({ settings, secrets }: Client): string {
  if (secrets.includes("secret")) return words.applications.bySecret;
  return settings.jwks ? words.applications.byKeys : words.applications.isPublic;
}

/** The clients of the tenant's OpenID provider, and the addresses that they need. */
export function Applications({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const listed = useQuery(trpc.listOpenidClients.queryOptions({ tenant }));
  const addressOf = ({ id }: Client) => pathOf(`applications/${encodeURIComponent(id)}`);
  const { enabled } = (own?.config.openid ?? {}) as { enabled?: boolean };
  const columns: Column<Client>[] = [
    {
      id: "name",
      header: words.applications.name,
      cell: ({ row: { original } }) => (
        <Stack gap={0} align="flex-start">
          <Anchor component={Link} size="sm" href={addressOf(original)}>
            {text(original.settings.name) || original.id}
          </Anchor>
          <Identifier value={original.id} />
        </Stack>
      ),
    },
    {
      id: "authentication",
      header: words.applications.authentication,
      cell: ({ row }) => (
        <Badge variant="light" color="gray" tt="none">
          {authenticationOf(row.original)}
        </Badge>
      ),
    },
    {
      id: "redirects",
      header: words.applications.redirects,
      cell: ({ row }) => {
        const { redirect_uris } = row.original.settings;
        return (
          <Text size="sm" style={{ overflowWrap: "break-word" }}>
            {Array.isArray(redirect_uris) ? redirect_uris.join(", ") : ""}
          </Text>
        );
      },
    },
  ];
  return (
    <>
      <PageHead title={words.pages.applications} sentence={words.applications.sentence}>
        {own?.default === false && may("createOpenidClient") && <CreateApplication declared={declared} />}
      </PageHead>
      <OfConfiguration />
      {own?.default === false && !enabled && (
        <Alert color="yellow" icon={<IconInfoCircle size={18} />}>
          {words.applications.off}
        </Alert>
      )}
      {own?.base_url && <Addresses issuer={own.base_url} />}
      <DataTable
        label={words.pages.applications}
        {...wholeList(listed)}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={addressOf}
        empty={<Empty title={words.applications.empty} sentence={words.applications.emptySentence} />}
      />
      {may("listUnlistedOpenidClients") && <UnlistedApplications />}
    </>
  );
}

/** What an application is configured with. */
export function Addresses({ issuer }: { issuer: string }) {
  const addresses = [
    [words.applications.issuer, issuer],
    [words.applications.discovery, `${issuer}/.well-known/openid-configuration`],
    [words.applications.authorization, `${issuer}/oauth/authorize`],
    [words.applications.token, `${issuer}/oauth/token`],
  ] as const;
  return (
    <Facts
      columns={2}
      facts={addresses.map(([label, value]) => [label, <Identifier key={label} value={value} />] as const)}
    />
  );
}

/** What an application needs as a rule. Its page has the rest. */
const first = ["name", "redirect_uris", "application_type"];

function CreateApplication({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const router = useRouter();
  const pathOf = usePagePath();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [id, setId] = useState("");
  const [patch, setPatch] = useState<Patch>({});
  const create = useChange(
    trpc.createOpenidClient.mutationOptions({
      onSuccess: (made) => router.push(pathOf(`applications/${encodeURIComponent(made.id)}`)),
    }),
    words.applications.created,
  );
  return (
    <Group>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.applications.create}
      </Button>
      <FormModal
        title={words.applications.create}
        size="lg"
        opened={isOpen}
        onClose={close}
        submit={words.create}
        loading={create.isPending}
        disabled={id === "" || !patch.name}
        onSubmit={() =>
          create.mutate({ tenant, body: { id, settings: patch as unknown as Body["settings"] } })
        }
      >
        <TextInput
          label={words.applications.id}
          description={words.applications.idHint}
          required
          data-autofocus
          maxLength={64}
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
        />
        <SettingsFields declared={declared} names={first} patch={patch} onChange={setPatch} />
      </FormModal>
    </Group>
  );
}
