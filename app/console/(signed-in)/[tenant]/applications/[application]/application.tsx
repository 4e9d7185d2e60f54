"use client";

import { Anchor, Skeleton } from "@mantine/core";
import { IconArrowLeft } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Failure } from "../../../../_parts/answers.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import type { DeclaredSettings } from "../../../../_parts/declared-settings.ts";
import { Facts } from "../../../../_parts/facts.tsx";
import { Identifier } from "../../../../_parts/identifier.tsx";
import { OfConfiguration, useOwnTenant } from "../../../../_parts/own-tenant.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { SettingsForm } from "../../../../_parts/settings-form.tsx";
import { ShownOnce } from "../../../../_parts/shown-once.tsx";
import { useMay, usePagePath, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { Addresses, authenticationOf } from "../applications.tsx";

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
  const isOwn = own?.default === false;
  const { name } = data?.settings ?? {};
  return (
    <>
      <Anchor component={Link} size="sm" href={pathOf("applications")}>
        <IconArrowLeft size={14} style={{ verticalAlign: "-2px" }} /> {words.pages.applications}
      </Anchor>
      <PageHead title={typeof name === "string" ? name : id}>
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
      </PageHead>
      <OfConfiguration />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton height={400} />}
      {data && (
        <>
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
        </>
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
