"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
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
import { nameOfOAuth } from "../providers.tsx";
import { oauthSecrets } from "../secrets.ts";
import { TestSignIn } from "./test-sign-in.tsx";

/** Settings that built-in providers have; Apple and Microsoft have some more. */
const ofBuiltIn = ["enabled", "client_id", "secret", "prompt", "allow_linking", "satisfies_mfa"];
const further: Record<string, readonly string[]> = {
  apple: ["team_id", "key_id", "private_key"],
  microsoft: ["tenant", "rp_initiated_logout"],
};
const ofApple = ["team_id", "key_id", "private_key"];

/** A provider that speaks OAuth or OpenID Connect: the address to enter there, and its settings. */
export function OAuthProvider({ id, declared }: { id: string; declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const pathOf = usePagePath();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const { data, error, refetch } = useQuery(trpc.getOAuthProvider.queryOptions({ tenant, provider_id: id }));
  const change = useChange(trpc.changeOAuthProvider.mutationOptions(), words.providers.changed);
  const remove = useChange(trpc.deleteOAuthProvider.mutationOptions(), words.providers.deleted, {
    leadsTo: pathOf("providers"),
  });
  const { guarded, question } = useLockOutQuestion();
  const check = useMutation(trpc.checkOAuthProvider.mutationOptions());
  const checkNow = () => check.mutate({ tenant, body: { provider_id: id } });
  const test = useChange(trpc.beginOAuthProviderTest.mutationOptions());
  const mayChange = own?.default === false && may("changeOAuthProvider");
  const ofCustom = Object.keys(declared).filter((name) => !ofApple.includes(name) && name !== "tenant");
  const names = data?.custom ? ofCustom : [...ofBuiltIn, ...(further[id] ?? [])];
  return (
    <>
      <PartyHead
        list={{ path: "providers", label: words.pages.providers }}
        found={{ data, error, refetch }}
        missing={words.providers.missing}
        title={data ? nameOfOAuth(data) : id}
        sentence={words.providers.oauthSentence}
      >
        {data && mayChange && (
          <ConfirmedButton
            label={data.custom ? words.delete : words.providers.reset}
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
              [words.providers.state, <ProviderState key="state" enabled={data.enabled} />],
              [words.providers.id, <Identifier key="id" value={id} />],
              ...(own?.base_url
                ? [
                    [
                      words.providers.callback,
                      <Identifier key="callback" value={`${own.base_url}/thirdparty/callback`} />,
                    ] as const,
                  ]
                : []),
            ]}
          />
          <SettingsForm
            declared={declared}
            names={names}
            current={data.settings}
            secrets={data.secrets}
            secretNames={oauthSecrets}
            disabled={!mayChange}
            onSave={async (body) => {
              await guarded((query) => change.mutateAsync({ tenant, provider_id: id, query, body }));
              checkNow();
            }}
          />
          {may("checkOAuthProvider") && <ProviderCheck check={check} onCheck={checkNow} />}
          {may("beginOAuthProviderTest") && (
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
