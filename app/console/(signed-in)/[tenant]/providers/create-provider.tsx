"use client";

import { Button, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import { useTRPC } from "../../../_api/provider.tsx";
import { useChange } from "../../../_parts/change.tsx";
import type { DeclaredSettings } from "../../../_parts/declared-settings.ts";
import { FormModal } from "../../../_parts/form-modal.tsx";
import { useLockOutQuestion } from "../../../_parts/lock-out.tsx";
import { type Patch, SettingsFields } from "../../../_parts/settings-form.tsx";
import { usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { type Check, Findings } from "./provider-check.tsx";
import { oauthSecrets } from "./secrets.ts";

type OAuthBody = NonNullable<AdminOperations["createOAuthProvider"]["input"]["body"]>;
type SamlBody = NonNullable<AdminOperations["createSamlProvider"]["input"]["body"]>;

/** What a provider cannot be without, or needs as a rule. Its page has the rest. */
const ofOAuth = ["display_name", "issuer", "client_id", "secret"];
const ofSaml = ["name", "domains", "metadata_url", "metadata"];

/** Adds a provider that speaks OpenID Connect or OAuth, and leads to its page. */
export function CreateOAuthProvider({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const router = useRouter();
  const pathOf = usePagePath();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [key, setKey] = useState("");
  const [patch, setPatch] = useState<Patch>({});
  const check = useMutation(trpc.checkOAuthProvider.mutationOptions());
  const create = useChange(
    trpc.createOAuthProvider.mutationOptions({
      onSuccess: ({ id }) => router.push(pathOf(`providers/${encodeURIComponent(id)}`)),
    }),
    words.providers.created,
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.providers.createOAuth}
      </Button>
      <FormModal
        title={words.providers.createOAuth}
        size="lg"
        opened={isOpen}
        onClose={close}
        submit={words.create}
        loading={create.isPending}
        disabled={key === "" || !patch.display_name || !patch.client_id}
        onSubmit={() =>
          create.mutate({
            tenant,
            body: { id: `custom_${key}`, settings: patch as unknown as OAuthBody["settings"] },
          })
        }
      >
        <TextInput
          label={words.providers.key}
          description={words.providers.keyHint}
          required
          data-autofocus
          maxLength={32}
          value={key}
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
        />
        <SettingsFields
          declared={declared}
          names={ofOAuth}
          secretNames={oauthSecrets}
          patch={patch}
          onChange={setPatch}
        />
        <CheckOfNew
          check={check}
          disabled={key === "" || !patch.client_id}
          onCheck={() => check.mutate({ tenant, body: { provider_id: `custom_${key}`, settings: patch } })}
        />
      </FormModal>
    </>
  );
}

/** Adds a SAML provider, and leads to its page. */
export function CreateSamlProvider({ declared }: { declared: DeclaredSettings }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const router = useRouter();
  const pathOf = usePagePath();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [patch, setPatch] = useState<Patch>({});
  const { guarded, question } = useLockOutQuestion();
  const check = useMutation(trpc.checkSamlProvider.mutationOptions());
  const create = useChange(
    trpc.createSamlProvider.mutationOptions({
      onSuccess: ({ id }) => router.push(pathOf(`providers/${id}`)),
    }),
    words.providers.created,
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {words.providers.createSaml}
      </Button>
      <FormModal
        title={words.providers.createSaml}
        size="lg"
        opened={isOpen}
        onClose={close}
        submit={words.create}
        loading={create.isPending}
        disabled={!patch.name || !patch.domains || !(patch.metadata_url || patch.metadata)}
        onSubmit={() => {
          void guarded((query) =>
            create.mutateAsync({ tenant, query, body: patch as unknown as SamlBody }),
          ).catch(() => {});
        }}
      >
        <SettingsFields declared={declared} names={ofSaml} patch={patch} onChange={setPatch} />
        <CheckOfNew
          check={check}
          disabled={!(patch.metadata_url || patch.metadata)}
          onCheck={() => check.mutate({ tenant, body: { settings: patch } })}
        />
      </FormModal>
      {question}
    </>
  );
}

/** A check of what was typed, before it is saved. */
function CheckOfNew({ check, disabled, onCheck }: { check: Check; disabled: boolean; onCheck(): void }) {
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" disabled={disabled} loading={check.isPending} onClick={onCheck}>
        {words.providers.check.begin}
      </Button>
      <Findings check={check} />
    </Stack>
  );
}
