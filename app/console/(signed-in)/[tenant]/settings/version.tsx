"use client";

import { Code, Stack, Text } from "@mantine/core";
import type { SettingsVersion } from "../../../_api/console-router.ts";
import { AccountLink } from "../../../_parts/account-link.tsx";
import { Identifier } from "../../../_parts/identifier.tsx";
import { LongName } from "../../../_parts/long-name.tsx";
import { useMay, useMe } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { shownValue } from "./setting.tsx";

/** Who has made a version, with the way to the account where the viewer may go it. */
export function Author({ by }: { by: SettingsVersion["by"] }) {
  const may = useMay();
  const me = useMe();
  const isReached = by?.tenant_id !== undefined && (me.role === "operator" || me.tenant.id === by.tenant_id);
  if (!by) return <Text size="sm">{words.settings.unknown}</Text>;
  return (
    <Stack gap={2} align="flex-start">
      <Text size="sm">{words.settings.authors[by.kind]}</Text>
      {by.kind === "user" && by.id && (
        <AccountLink id={by.id} tenant={by.tenant_id} isReached={isReached && may("getUser")} />
      )}
      {by.kind === "api_key" && by.id && <Identifier value={by.id} shortened />}
    </Stack>
  );
}

/** What a version has changed. */
export function Changes({ version: { by, changes } }: { version: SettingsVersion }) {
  // A change that changes nothing is no version.
  if (by && changes.length === 0) return <Text size="xs">{words.settings.tenantCreated}</Text>;
  return (
    <Stack gap={4}>
      {changes.map(({ path, before, after }) => (
        <Text key={path} size="xs" style={{ overflowWrap: "break-word" }}>
          <LongName name={path} />: <Code>{shownValue(before)}</Code> → <Code>{shownValue(after)}</Code>
        </Text>
      ))}
    </Stack>
  );
}
