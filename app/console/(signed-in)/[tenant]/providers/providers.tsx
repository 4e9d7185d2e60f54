"use client";

import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty } from "../../../_parts/answers.tsx";
import { type Column, DataTable, wholeList } from "../../../_parts/data-table.tsx";
import type { DeclaredSettings } from "../../../_parts/declared-settings.ts";
import { OfConfiguration, useOwnTenant } from "../../../_parts/own-tenant.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import type { Patch } from "../../../_parts/settings-form.tsx";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { CreateOAuthProvider, CreateSamlProvider } from "./create-provider.tsx";
import { ProviderState } from "./provider-state.tsx";

type OAuth = AdminOperations["listOAuthProviders"]["answer"][number];
type Saml = AdminOperations["listSamlProviders"]["answer"][number];

const text = (value: unknown) => (typeof value === "string" ? value : "");
const texts = (value: unknown) => (Array.isArray(value) ? value.map(text) : []);

const names: Record<string, string> = words.providers.names;

/** The name of a provider of OAuth, as its button says it. */
export const nameOfOAuth = ({ id, settings }: Pick<OAuth, "id" | "settings">) =>
  text(settings.display_name) || names[id] || id.charAt(0).toUpperCase() + id.slice(1);

/** The mail domains of a SAML provider. */
export const domainsOfSaml = (provider: Saml) => {
  const { domain, domains } = settingsOf(provider);
  return [text(domain), ...texts(domains)].filter(Boolean);
};

/** The settings of a SAML provider as stored: what was not given has its default. */
export const settingsOf = (provider: Saml): Patch => provider;

/** The identity providers of the tenant. */
export function Providers({ oauth, saml }: { oauth: DeclaredSettings; saml: DeclaredSettings }) {
  return (
    <>
      <PageHead title={words.pages.providers} sentence={words.providers.sentence} />
      <OfConfiguration />
      <OAuthProviders declared={oauth} />
      <SamlProviders declared={saml} />
    </>
  );
}

function OAuthProviders({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const listed = useQuery(trpc.listOAuthProviders.queryOptions({ tenant }));
  const addressOf = ({ id }: OAuth) => pathOf(`providers/${encodeURIComponent(id)}`);
  const columns: Column<OAuth>[] = [
    {
      id: "name",
      header: words.providers.name,
      cell: ({ row: { original } }) => (
        <Anchor component={Link} size="sm" href={addressOf(original)}>
          {nameOfOAuth(original)}
        </Anchor>
      ),
    },
    {
      id: "state",
      header: words.providers.state,
      cell: ({ row }) => <ProviderState enabled={row.original.enabled} />,
    },
    {
      id: "kind",
      header: words.providers.kind,
      cell: ({ row }) => (
        <Text size="sm">{row.original.custom ? words.providers.custom : words.providers.builtIn}</Text>
      ),
    },
    {
      id: "client",
      header: words.providers.clientId,
      cell: ({ row }) => (
        <Text size="sm" style={{ overflowWrap: "break-word" }}>
          {text(row.original.settings.client_id)}
        </Text>
      ),
    },
  ];
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" mih={36}>
        <Title order={2} size="h4">
          {words.providers.oauth}
        </Title>
        {own?.default === false && may("createOAuthProvider") && <CreateOAuthProvider declared={declared} />}
      </Group>
      <DataTable
        label={words.providers.oauth}
        {...wholeList(listed)}
        columns={columns}
        idOf={({ id }) => id}
        hrefOf={addressOf}
        empty={<Empty title={words.providers.empty} />}
      />
    </Stack>
  );
}

const FORBIDDEN = 403;

function SamlProviders({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const listed = useQuery(trpc.listSamlProviders.queryOptions({ tenant }));
  const isOff = listed.error?.data?.httpStatus === FORBIDDEN;
  const addressOf = ({ id }: Saml) => pathOf(`providers/${id}`);
  const columns: Column<Saml>[] = [
    {
      id: "name",
      header: words.providers.name,
      cell: ({ row: { original } }) => (
        <Anchor component={Link} size="sm" href={addressOf(original)}>
          {original.name}
        </Anchor>
      ),
    },
    {
      id: "state",
      header: words.providers.state,
      cell: ({ row }) => <ProviderState enabled={settingsOf(row.original).enabled !== false} />,
    },
    {
      id: "domains",
      header: words.providers.domains,
      cell: ({ row }) => <Text size="sm">{domainsOfSaml(row.original).join(", ")}</Text>,
    },
    {
      id: "metadata",
      header: words.providers.metadata,
      cell: ({ row }) => (
        <Text size="sm" style={{ overflowWrap: "break-word" }}>
          {text(settingsOf(row.original).metadata_url) || words.providers.metadataAsText}
        </Text>
      ),
    },
  ];
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" mih={36}>
        <Title order={2} size="h4">
          {words.providers.saml}
        </Title>
        {own?.default === false && !isOff && may("createSamlProvider") && (
          <CreateSamlProvider declared={declared} />
        )}
      </Group>
      {isOff ? (
        <Empty title={words.providers.samlOff} sentence={words.providers.samlOffSentence} />
      ) : (
        <DataTable
          label={words.providers.saml}
          {...wholeList(listed)}
          columns={columns}
          idOf={({ id }) => id}
          hrefOf={addressOf}
          empty={<Empty title={words.providers.samlEmpty} sentence={words.providers.samlEmptySentence} />}
        />
      )}
    </Stack>
  );
}
