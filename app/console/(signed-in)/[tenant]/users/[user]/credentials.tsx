"use client";

import { Group, Stack, Text, ThemeIcon } from "@mantine/core";
import {
  IconDeviceMobile,
  IconFingerprint,
  IconKey,
  IconLifebuoy,
  IconPassword,
  IconPlugConnected,
  IconShieldCheck,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ComponentType, ReactNode } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { shortId } from "../../../../_parts/identifier.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import type { UserObject } from "./user-object.ts";

/** One thing with which the user proves an identity. */
interface Credential {
  key: string;
  icon: ComponentType<{ size?: number }>;
  /** What it is called. */
  kind: string;
  /** Which one it is, where there can be several. */
  name?: string | undefined;
  details: ReactNode;
  /** What is asked before it is removed. */
  question: string;
  /** Removes it; null if the role may not. */
  remove: (() => Promise<unknown>) | null;
}

/** What the user signs in with, and its removal. */
export function Credentials({ user }: { user: UserObject }) {
  const { credentials, isPending } = useCredentials(user);
  return (
    <Panel title={words.user.credentials}>
      {credentials.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.user.noCredentials}
        </Text>
      ) : (
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {credentials.map(({ key, icon: Icon, kind, name, details, question, remove }) => (
            <Group key={key} component="li" justify="space-between" gap="sm" wrap="nowrap">
              <Group gap="sm" wrap="nowrap" align="flex-start" style={{ minWidth: 0 }}>
                <ThemeIcon variant="light" color="gray" aria-hidden>
                  <Icon size={18} />
                </ThemeIcon>
                <Stack gap={0} style={{ minWidth: 0 }}>
                  <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
                    {name === undefined ? kind : `${kind}: ${name}`}
                  </Text>
                  <Text size="xs" c="dimmed" component="div">
                    {details}
                  </Text>
                </Stack>
              </Group>
              {remove && (
                <ConfirmedButton
                  compact
                  label={words.remove}
                  about={name === undefined ? kind : `${kind} ${name}`}
                  title={question}
                  loading={isPending}
                  onConfirm={remove}
                >
                  {words.user.removeConsequence}
                </ConfirmedButton>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Panel>
  );
}

function Since({ said, at, used }: { said: string; at: string; used?: string | undefined }) {
  return (
    <Group gap={4}>
      {said} <Moment at={at} size="xs" />
      {used && (
        <>
          · {words.user.lastUsed} <Moment at={used} size="xs" />
        </>
      )}
    </Group>
  );
}

type Passkey = NonNullable<UserObject["webauthn_credentials"]>[number];

const nameOf = ({ name, id }: Passkey): string => name ?? shortId(id);

function useCredentials(user: UserObject): { credentials: Credential[]; isPending: boolean } {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id } = user;
  const { data: codes } = useQuery(trpc.countUserRecoveryCodes.queryOptions({ tenant, id }));
  const { data: phones = [] } = useQuery(trpc.listUserPhones.queryOptions({ tenant, id }));
  const password = useChange(trpc.deleteUserPassword.mutationOptions(), words.removed);
  const key = useChange(trpc.deleteUserCredential.mutationOptions(), words.removed);
  const app = useChange(trpc.deleteUserOtp.mutationOptions(), words.removed);
  const recovery = useChange(trpc.deleteUserRecoveryCodes.mutationOptions(), words.removed);
  const phone = useChange(trpc.deleteUserPhone.mutationOptions(), words.removed);
  const identity = useChange(trpc.deleteUserIdentity.mutationOptions(), words.removed);
  const credentials: Credential[] = [
    ...(user.password
      ? [
          {
            key: "password",
            icon: IconPassword,
            question: words.user.removeQuestions.password,
            kind: words.methods.password,
            details: <Since said={words.user.passwordSet} at={user.password.updated_at} />,
            remove: may("deleteUserPassword") ? () => password.mutateAsync({ tenant, id }) : null,
          },
        ]
      : []),
    ...(user.webauthn_credentials ?? []).map((credential) => ({
      key: credential.id,
      icon: credential.mfa_only ? IconKey : IconFingerprint,
      question: words.user.removeQuestions[credential.mfa_only ? "security_key" : "passkey"](
        nameOf(credential),
      ),
      kind: credential.mfa_only ? words.methods.security_key : words.methods.passkey,
      name: nameOf(credential),
      details: (
        <Since
          said={words.user.registered}
          at={credential.created_at}
          used={credential.last_used_at ?? undefined}
        />
      ),
      remove: may("deleteUserCredential")
        ? () => key.mutateAsync({ tenant, id, credential_id: credential.id })
        : null,
    })),
    ...(user.otp
      ? [
          {
            key: "otp",
            icon: IconShieldCheck,
            question: words.user.removeQuestions.totp,
            kind: words.methods.totp,
            details: <Since said={words.user.setUp} at={user.otp.created_at} />,
            remove: may("deleteUserOtp") ? () => app.mutateAsync({ tenant, id }) : null,
          },
        ]
      : []),
    ...(codes && codes.remaining > 0
      ? [
          {
            key: "recovery codes",
            icon: IconLifebuoy,
            question: words.user.removeQuestions.recovery_code,
            kind: words.methods.recovery_code,
            details: words.user.codesLeft(codes.remaining),
            remove: may("deleteUserRecoveryCodes") ? () => recovery.mutateAsync({ tenant, id }) : null,
          },
        ]
      : []),
    ...phones.map(({ id: phone_id, name, created_at, last_used_at }) => ({
      key: phone_id,
      icon: IconDeviceMobile,
      question: words.user.removeQuestions.authenticator(name),
      kind: words.methods.authenticator,
      name,
      details: <Since said={words.user.registered} at={created_at} used={last_used_at} />,
      remove: may("deleteUserPhone") ? () => phone.mutateAsync({ tenant, id, phone_id }) : null,
    })),
    ...(user.identities ?? []).map(({ id: identity_id, provider_name, provider_id, created_at }) => ({
      key: identity_id,
      icon: IconPlugConnected,
      question: words.user.removeQuestions.third_party(provider_name),
      kind: provider_name,
      name: provider_id,
      details: <Since said={words.user.linked} at={created_at} />,
      remove: may("deleteUserIdentity") ? () => identity.mutateAsync({ tenant, id, identity_id }) : null,
    })),
  ];
  const isPending = [password, key, app, recovery, phone, identity].some((change) => change.isPending);
  return { credentials, isPending };
}
