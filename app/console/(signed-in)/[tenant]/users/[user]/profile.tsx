"use client";

import { Badge, Button, Checkbox, Group, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { languageTags } from "#words/language-tags";
import { useTRPC } from "../../../../_api/provider.tsx";
import { ConfirmedButton, useChange } from "../../../../_parts/change.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { ConsoleRolePanel } from "./console-role.tsx";
import { Metadata } from "./metadata.tsx";
import type { UserObject } from "./user-object.ts";

/** Who the user is: names, identifiers and metadata. */
export function Profile({ user }: { user: UserObject }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Stack gap="md">
        <Names key={JSON.stringify([...fieldNames.map((name) => user[name]), user.language])} user={user} />
        <Account user={user} />
      </Stack>
      <Stack gap="md">
        <Emails user={user} />
        <Username key={`username ${user.username?.username}`} user={user} />
        <Phone key={`phone ${user.phone_number} ${user.phone_number_verified}`} user={user} />
        <ConsoleRolePanel id={user.id} />
      </Stack>
      <div style={{ gridColumn: "1 / -1" }}>
        <Metadata user={user} />
      </div>
    </SimpleGrid>
  );
}

const fields = {
  name: words.user.name,
  given_name: words.user.givenName,
  family_name: words.user.familyName,
  picture: words.user.picture,
} as const;

type Field = keyof typeof fields;

const fieldNames = Object.keys(fields) as Field[];

/** The fields that applications are told of. What is not changed is not sent, so that a concurrent change of it stays. */
function Names({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const [texts, setTexts] = useState<Partial<Record<Field, string>>>({});
  const [language, setLanguage] = useState(user.language ?? "");
  const restore = useChange(trpc.updateUser.mutationOptions(), words.undone);
  const save = useChange(trpc.updateUser.mutationOptions(), words.saved, {
    undo({ body = {} }) {
      const former = Object.keys(body).map((name) => [name, user[name as Field | "language"] ?? null]);
      return restore.mutateAsync({ tenant, id: user.id, body: Object.fromEntries(former) });
    },
  });
  const changed = Object.fromEntries(
    fieldNames
      .filter((name) => texts[name] !== undefined && texts[name] !== (user[name] ?? ""))
      .map((name) => [name, texts[name]?.trim() || null]),
  );
  const tag = languageTags.find((known) => known === language) ?? null;
  const body = { ...changed, ...(language === (user.language ?? "") ? {} : { language: tag }) };
  return (
    <Panel title={words.user.profile}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ tenant, id: user.id, body });
        }}
      >
        <Stack gap="sm">
          {fieldNames.map((name) => (
            <TextInput
              key={name}
              label={fields[name]}
              value={texts[name] ?? user[name] ?? ""}
              onChange={({ currentTarget }) => setTexts({ ...texts, [name]: currentTarget.value })}
              readOnly={!may("updateUser")}
              autoComplete="off"
            />
          ))}
          <Select
            label={words.user.language}
            description={words.user.languageHint}
            data={[
              { value: "", label: words.none },
              ...languageTags.map((value) => ({ value, label: value })),
            ]}
            value={language}
            onChange={(chosen) => setLanguage(chosen ?? "")}
            allowDeselect={false}
            readOnly={!may("updateUser")}
          />
          {may("updateUser") && (
            <Group justify="flex-end">
              <Button type="submit" loading={save.isPending} disabled={Object.keys(body).length === 0}>
                {words.save}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Panel>
  );
}

function Account({ user }: { user: UserObject }) {
  const times = [
    [words.user.created, user.created_at],
    [words.user.updated, user.updated_at],
    [words.user.lastSignIn, user.last_sign_in_at],
    ...(user.blocked_at ? [[words.user.blockedSince, user.blocked_at] as const] : []),
  ] as const;
  return (
    <Panel title={words.user.facts}>
      <Stack gap={6}>
        {times.map(([label, at]) => (
          <Group key={label} justify="space-between">
            <Text size="sm" c="dimmed">
              {label}
            </Text>
            <Moment at={at} />
          </Group>
        ))}
      </Stack>
    </Panel>
  );
}

function Emails({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id, emails = [] } = user;
  const makePrimary = useChange(trpc.setPrimaryUserEmail.mutationOptions(), words.user.madePrimary);
  const verify = useChange(trpc.verifyUserEmail.mutationOptions(), words.user.nowVerified);
  const remove = useChange(trpc.deleteUserEmail.mutationOptions(), words.removed);
  return (
    <Panel title={words.user.emails}>
      {emails.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.user.noEmails}
        </Text>
      ) : (
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {emails.map(({ id: email_id, address, is_primary, is_verified }) => (
            <Group key={email_id} component="li" justify="space-between" gap="xs">
              <Stack gap={4} style={{ minWidth: 0 }}>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {address}
                </Text>
                <Group gap={4}>
                  {is_primary && <Badge variant="light">{words.user.primary}</Badge>}
                  <Badge variant="light" color={is_verified ? "teal" : "yellow"}>
                    {is_verified ? words.user.verified : words.user.notVerified}
                  </Badge>
                </Group>
              </Stack>
              <Group gap="xs">
                {!is_verified && may("verifyUserEmail") && (
                  <ConfirmedButton
                    compact
                    color="indigo"
                    label={words.user.verify}
                    about={address}
                    title={words.user.verifyQuestion}
                    loading={verify.isPending}
                    onConfirm={() => verify.mutateAsync({ tenant, id, email_id })}
                  >
                    {words.user.verifyConsequence}
                  </ConfirmedButton>
                )}
                {!is_primary && may("setPrimaryUserEmail") && (
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={`${words.user.makePrimary} ${address}`}
                    loading={makePrimary.isPending}
                    onClick={() => makePrimary.mutate({ tenant, id, email_id })}
                  >
                    {words.user.makePrimary}
                  </Button>
                )}
                {!is_primary && may("deleteUserEmail") && (
                  <ConfirmedButton
                    compact
                    label={words.remove}
                    about={address}
                    title={words.user.removeEmail}
                    loading={remove.isPending}
                    onConfirm={() => remove.mutateAsync({ tenant, id, email_id })}
                  >
                    {words.user.removeEmailConsequence}
                  </ConfirmedButton>
                )}
              </Group>
            </Group>
          ))}
        </Stack>
      )}
      {may("createUserEmail") && <AddEmail id={id} />}
    </Panel>
  );
}

function AddEmail({ id }: { id: string }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [address, setAddress] = useState("");
  const [isVerified, setVerified] = useState(false);
  const add = useChange(
    trpc.createUserEmail.mutationOptions({
      onSuccess: () => {
        setAddress("");
        setVerified(false);
      },
    }),
    words.user.emailAdded,
  );
  return (
    <OneField
      label={words.user.newEmail}
      button={words.add}
      value={address}
      onChange={setAddress}
      type="email"
      isPending={add.isPending}
      isUnchanged={address.trim() === ""}
      onSubmit={() => add.mutate({ tenant, id, body: { address: address.trim(), is_verified: isVerified } })}
    >
      <Checkbox
        label={words.user.isVerified}
        checked={isVerified}
        onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
      />
    </OneField>
  );
}

function Username({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id } = user;
  const stored = user.username?.username ?? "";
  const [typed, setTyped] = useState(stored);
  const set = useChange(trpc.setUsername.mutationOptions(), words.saved);
  const remove = useChange(trpc.deleteUsername.mutationOptions(), words.removed);
  return (
    <Panel title={words.user.username}>
      <OneField
        label={words.user.username}
        button={words.save}
        value={typed}
        onChange={setTyped}
        isPending={set.isPending}
        isUnchanged={typed.trim() === "" || typed.trim() === stored}
        isReadOnly={!may("setUsername")}
        onSubmit={() => set.mutate({ tenant, id, body: { username: typed.trim() } })}
      >
        {stored !== "" && may("deleteUsername") && (
          <ConfirmedButton
            compact
            label={words.remove}
            about={words.user.username}
            title={words.user.removeUsername}
            loading={remove.isPending}
            onConfirm={() => remove.mutateAsync({ tenant, id })}
          >
            {words.user.removeUsernameConsequence}
          </ConfirmedButton>
        )}
      </OneField>
    </Panel>
  );
}

function Phone({ user }: { user: UserObject }) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const { id, phone_number: stored = "", phone_number_verified: storedVerified = false } = user;
  const [typed, setTyped] = useState(stored);
  const [isVerified, setVerified] = useState(storedVerified);
  const set = useChange(trpc.setPhoneNumber.mutationOptions(), words.saved);
  const remove = useChange(trpc.deletePhoneNumber.mutationOptions(), words.removed);
  const body = { phone_number: typed.trim(), phone_number_verified: isVerified };
  return (
    <Panel title={words.user.phone}>
      <OneField
        label={words.user.phone}
        hint={words.user.phoneHint}
        button={words.save}
        value={typed}
        onChange={setTyped}
        type="tel"
        isPending={set.isPending}
        isUnchanged={typed.trim() === "" || (typed.trim() === stored && isVerified === storedVerified)}
        isReadOnly={!may("setPhoneNumber")}
        onSubmit={() => set.mutate({ tenant, id, body })}
      >
        <Checkbox
          label={words.user.isVerified}
          checked={isVerified}
          disabled={!may("setPhoneNumber")}
          onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
        />
        {stored !== "" && may("deletePhoneNumber") && (
          <ConfirmedButton
            compact
            label={words.remove}
            about={words.user.phone}
            title={words.user.removePhone}
            loading={remove.isPending}
            onConfirm={() => remove.mutateAsync({ tenant, id })}
          >
            {words.user.removePhoneConsequence}
          </ConfirmedButton>
        )}
      </OneField>
    </Panel>
  );
}

/** A form of one text, with its button beside it. */
function OneField({
  label,
  hint,
  button,
  value,
  onChange,
  type = "text",
  isPending,
  isUnchanged,
  isReadOnly = false,
  onSubmit,
  children,
}: {
  label: string;
  hint?: string;
  button: string;
  value: string;
  onChange(value: string): void;
  type?: string;
  isPending: boolean;
  isUnchanged: boolean;
  isReadOnly?: boolean;
  onSubmit(): void;
  /** What stands below the field. */
  children?: ReactNode;
}) {
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
      noValidate
    >
      <Stack gap="xs">
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label={label}
            description={hint}
            type={type}
            value={value}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
            readOnly={isReadOnly}
            autoComplete="off"
            flex={1}
          />
          {!isReadOnly && (
            <Button type="submit" variant="default" loading={isPending} disabled={isUnchanged}>
              {button}
            </Button>
          )}
        </Group>
        <Group justify="space-between" gap="xs">
          {children}
        </Group>
      </Stack>
    </form>
  );
}
