"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../../_api/provider.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import type { DeclaredSettings } from "../../../../_parts/declared-settings.ts";
import { Facts } from "../../../../_parts/facts.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { useLockOutQuestion } from "../../../../_parts/lock-out.tsx";
import { useOwnTenant } from "../../../../_parts/own-tenant.tsx";
import { PartyHead } from "../../../../_parts/party-head.tsx";
import { SettingsForm } from "../../../../_parts/settings-form.tsx";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { ProviderCheck } from "../provider-check.tsx";
import { ProviderState } from "../provider-state.tsx";
import { domainsOfSaml, settingsOf } from "../providers.tsx";
import { TestSignIn } from "./test-sign-in.tsx";

type Tenant = AdminOperations["getOwnTenant"]["answer"];
type Provider = AdminOperations["getSamlProvider"]["answer"];

/** A SAML provider: the addresses to enter there, and its settings. */
export function SamlProvider({ id, declared }: { id: string; declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const { data, error, refetch } = useQuery(trpc.getSamlProvider.queryOptions({ tenant, provider_id: id }));
  const change = useChange(trpc.changeSamlProvider.mutationOptions(), words.providers.changed);
  const remove = useChange(trpc.deleteSamlProvider.mutationOptions(), words.providers.deleted, {
    leadsTo: pathOf("providers"),
  });
  const { guarded, question } = useLockOutQuestion();
  const check = useMutation(trpc.checkSamlProvider.mutationOptions());
  const checkNow = () => check.mutate({ tenant, body: { provider_id: id } });
  const test = useChange(trpc.beginSamlProviderTest.mutationOptions());
  const mayChange = own?.default === false && may("changeSamlProvider");
  return (
    <>
      <PartyHead
        list={{ path: "providers", label: words.pages.providers }}
        found={{ data, error, refetch }}
        missing={words.providers.missing}
        title={data?.name ?? words.providers.saml}
        sentence={words.providers.samlSentence}
      >
        {data && mayChange && (
          <ConfirmedButton
            label={words.delete}
            title={words.providers.deleteQuestion}
            loading={remove.isPending}
            onConfirm={() => guarded((query) => remove.mutateAsync({ tenant, provider_id: id, query }))}
          >
            {words.providers.deleteConsequence}
          </ConfirmedButton>
        )}
      </PartyHead>
      {data && (
        <>
          <Facts
            columns={2}
            facts={[
              [
                words.providers.state,
                <ProviderState key="state" enabled={settingsOf(data).enabled !== false} />,
              ],
              [words.providers.id, <Identifier key="id" value={id} />],
              ...(own ? addressesFor(own, data) : []),
            ]}
          />
          <SettingsForm
            declared={declared}
            current={data}
            disabled={!mayChange}
            onSave={async (body) => {
              await guarded((query) => change.mutateAsync({ tenant, provider_id: id, query, body }));
              checkNow();
            }}
          />
          {may("checkSamlProvider") && <ProviderCheck check={check} onCheck={checkNow} />}
          {may("beginSamlProviderTest") && (
            <TestSignIn
              loading={test.isPending}
              begin={() => test.mutateAsync({ tenant, provider_id: id })}
            />
          )}
          {question}
        </>
      )}
    </>
  );
}

/** The addresses of the service provider, which is its entity id (`saml.endpoint_url`). */
function addressesFor({ base_url, config }: Tenant, provider: Provider) {
  const { endpoint_url } = (config.saml ?? {}) as { endpoint_url?: string };
  const entity = endpoint_url ?? base_url;
  if (entity === null) return [];
  const [domain = ""] = domainsOfSaml(provider);
  const addresses = [
    [words.providers.metadataAddress, `${entity}/saml/metadata?${new URLSearchParams({ domain })}`],
    [words.providers.entityId, entity],
    [words.providers.acs, `${entity}/saml/callback`],
    [words.providers.logout, `${entity}/saml/logout`],
  ] as const;
  return addresses.map(([label, value]) => [label, <Identifier key={label} value={value} />] as const);
}
