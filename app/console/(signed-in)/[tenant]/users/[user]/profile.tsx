"use client";

import { Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { languageTags } from "#words/language-tags";
import { useTRPC } from "../../../../_api/provider.tsx";
import { useChange } from "../../../../_parts/change.tsx";
import { Moment } from "../../../../_parts/moment.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { useMay, useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { ConsoleRolePanel } from "./console-role.tsx";
import { Emails } from "./emails.tsx";
import { Metadata } from "./metadata.tsx";
import { PhoneNumber } from "./phone-number.tsx";
import type { UserObject } from "./user-object.ts";
import { Username } from "./username.tsx";

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
        <PhoneNumber key={`phone ${user.phone_number} ${user.phone_number_verified}`} user={user} />
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
              disabled={!may("updateUser")}
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
            disabled={!may("updateUser")}
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
