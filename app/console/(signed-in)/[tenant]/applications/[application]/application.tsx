"use client";

import { Alert, Paper, Stack, Tabs } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import type { DeclaredSettings } from "../../../../_parts/declared-settings.ts";
import { Facts } from "../../../../_parts/facts.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { useOwnTenant } from "../../../../_parts/own-tenant.tsx";
import { PartyHead } from "../../../../_parts/party-head.tsx";
import { useSearchState } from "../../../../_parts/search-state.ts";
import { SettingsForm } from "../../../../_parts/settings-form.tsx";
import { ShownOnce } from "../../../../_parts/shown-once.tsx";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Deliveries } from "../../webhooks/[webhook]/deliveries.tsx";
import { Addresses, authenticationOf } from "../applications.tsx";
import { Grants } from "./grants.tsx";

type TabName = keyof typeof words.applications.tabs;

const tabNames = Object.keys(words.applications.tabs) as TabName[];

/** One client of the OpenID provider. */
export function Application({ id, declared }: { id: string; declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const { data, error, refetch } = useQuery(trpc.getOpenidClient.queryOptions({ tenant, client_id: id }));
  const [secret, setSecret] = useState<string | null>(null);
  const change = useChange(trpc.changeOpenidClient.mutationOptions(), words.applications.changed);
  const renew = useChange(
    trpc.renewOpenidClientSecret.mutationOptions({ onSuccess: (made) => setSecret(made.secret) }),
  );
  const remove = useChange(trpc.deleteOpenidClient.mutationOptions(), words.applications.deleted, {
    leadsTo: pathOf("applications"),
  });
  const [value, changeAddress] = useSearchState();
  const isUnlisted = error?.data?.httpStatus === 404;
  const isOwn = own?.default === false;
  const { name } = data?.settings ?? {};
  const needs = {
    settings: "getOpenidClient",
    users: "listOpenidClientGrants",
    logouts: "listWebhookDeliveries",
  } as const satisfies Record<TabName, string>;
  const shown = tabNames.filter((tab) => may(needs[tab]));
  const tab = shown.find((one) => one === value("tab")) ?? "settings";
  return (
    <>
      <PartyHead
        list={{ path: "applications", label: words.pages.applications }}
        found={{ data, error, refetch }}
        failure={isUnlisted && <Unlisted id={id} />}
        title={typeof name === "string" ? name : id}
      >
        {data && isOwn && may("renewOpenidClientSecret") && (
          <ConfirmedButton
            label={words.applications.renew}
            title={words.applications.renewQuestion}
            loading={renew.isPending}
            onConfirm={() => renew.mutateAsync({ tenant, client_id: id })}
          >
            {words.applications.renewConsequence}
          </ConfirmedButton>
        )}
        {data && isOwn && may("deleteOpenidClient") && (
          <ConfirmedButton
            label={words.delete}
            title={words.applications.deleteQuestion}
            loading={remove.isPending}
            onConfirm={() => remove.mutateAsync({ tenant, client_id: id })}
          >
            {words.applications.deleteConsequence}
          </ConfirmedButton>
        )}
      </PartyHead>
      {data && (
        <Tabs
          value={tab}
          onChange={(chosen) =>
            changeAddress({
              tab: chosen === "settings" ? "" : (chosen ?? ""),
              state: "",
              event: "",
              from: "",
              to: "",
            })
          }
          keepMounted={false}
        >
          <Tabs.List aria-label={words.applications.tabList}>
            {shown.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {words.applications.tabs[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="settings" pt="md">
            <Stack>
              <Facts
                columns={2}
                facts={[
                  [words.applications.id, <Identifier key="id" value={id} />],
                  [words.applications.authentication, authenticationOf(data)],
                ]}
              />
              {own?.base_url && <Addresses issuer={own.base_url} />}
              <SettingsForm
                declared={declared}
                current={data.settings}
                secrets={data.secrets}
                secretNames={["secret"]}
                disabled={!isOwn || !may("changeOpenidClient")}
                onSave={(body) => change.mutateAsync({ tenant, client_id: id, body })}
              />
            </Stack>
          </Tabs.Panel>
          <Tabs.Panel value="users" pt="md">
            <Grants id={id} />
          </Tabs.Panel>
          <Tabs.Panel value="logouts" pt="md">
            {data.settings.backchannel_logout_uri ? (
              <Deliveries
                id={`config:client:${id}`}
                empty={{
                  title: words.applications.noLogouts,
                  sentence: words.applications.noLogoutsSentence,
                }}
              />
            ) : (
              <Paper withBorder>
                <Empty
                  title={words.applications.logoutsOff}
                  sentence={words.applications.logoutsOffSentence}
                />
              </Paper>
            )}
          </Tabs.Panel>
        </Tabs>
      )}
      <ShownOnce
        title={words.applications.secretTitle}
        label={words.applications.secret}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

/** One that describes itself, of which no settings are stored. */
function Unlisted({ id }: { id: string }) {
  return (
    <>
      <Alert color="blue" icon={<IconInfoCircle size={18} />}>
        {words.applications.unlistedOne}
      </Alert>
      <Facts columns={1} facts={[[words.applications.id, <Identifier key="id" value={id} />]]} />
      <Grants id={id} />
    </>
  );
}
