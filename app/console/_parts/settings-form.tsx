"use client";

import { Button, Group, Paper, SimpleGrid, Text } from "@mantine/core";
import { useState } from "react";
import { words } from "../_words.ts";
import type { DeclaredSetting, DeclaredSettings } from "./declared-settings.ts";
import { spoken } from "./protocol-name.ts";
import { SettingField } from "./setting-field.tsx";

/** Forms of declared settings. What they save is a JSON Merge Patch (RFC 7396) of what was changed. */

export type Patch = Record<string, unknown>;

/** Names of settings as labels: `redirect_uris` is "Redirect URIs". */
const labelOf = (name: string) =>
  spoken(
    name
      .split("_")
      .map((word) => words.initialisms[word as keyof typeof words.initialisms] ?? word)
      .join("_"),
  );

const hints: Record<string, string> = words.settingHints;

/** What a setting means, and the longest text that it takes, where that is short. */
const meaningOf = (name: string, { description }: DeclaredSetting) => description ?? hints[name];

/** The fields of settings. */
export function SettingsFields({
  declared,
  names = Object.keys(declared),
  current = {},
  secrets = [],
  secretNames = [],
  patch,
  disabled = false,
  onChange,
}: {
  declared: DeclaredSettings;
  /** Those that are shown, in this order. Default: all. */
  names?: readonly string[];
  current?: Patch;
  /** Names of the secrets that are set. */
  secrets?: readonly string[];
  /** Names of the settings that are secrets. */
  secretNames?: readonly string[];
  patch: Patch;
  disabled?: boolean;
  onChange(patch: Patch): void;
}) {
  return names.flatMap((name) => {
    const setting = declared[name];
    if (!setting) return [];
    const isSecret = secretNames.includes(name);
    return [
      <SettingField
        key={name}
        label={labelOf(name)}
        description={meaningOf(name, setting)}
        declared={setting}
        value={name in patch ? patch[name] : current[name]}
        secret={isSecret ? (secrets.includes(name) ? "set" : "unset") : undefined}
        disabled={disabled}
        onChange={(value) => onChange(changedPatch(patch, name, value, current[name]))}
      />,
    ];
  });
}

/** A value that is stored already is no change. */
function changedPatch(patch: Patch, name: string, value: unknown, stored: unknown): Patch {
  const { [name]: _, ...others } = patch;
  const isSame = JSON.stringify(value ?? null) === JSON.stringify(stored ?? null);
  return isSame ? others : { ...others, [name]: value ?? null };
}

/** All settings of one thing, with a button that saves what was changed. */
export function SettingsForm({
  declared,
  names,
  current,
  secrets = [],
  secretNames = [],
  disabled,
  onSave,
}: {
  declared: DeclaredSettings;
  names?: readonly string[];
  current: Patch;
  secrets?: readonly string[];
  secretNames?: readonly string[];
  /** Whether the settings are shown alone. */
  disabled: boolean;
  onSave(patch: Patch): Promise<unknown>;
}) {
  const [patch, setPatch] = useState<Patch>({});
  // Fields of JSON begin anew with what is stored.
  const [round, setRound] = useState(0);
  const [isSaving, setSaving] = useState(false);
  const changed = Object.keys(patch).length;
  const begin = () => {
    setPatch({});
    setRound((number) => number + 1);
  };
  return (
    <Paper withBorder p="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSaving(true);
          // What the service said against it is shown by the change itself, and what was typed stays.
          void onSave(patch)
            .then(begin, () => {})
            .finally(() => setSaving(false));
        }}
      >
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="lg" key={round}>
          <SettingsFields
            declared={declared}
            {...(names ? { names } : {})}
            current={current}
            secrets={secrets}
            secretNames={secretNames}
            patch={patch}
            disabled={disabled}
            onChange={setPatch}
          />
        </SimpleGrid>
        {!disabled && (
          <Group justify="flex-end" mt="lg">
            <Text size="sm" c="dimmed" role="status">
              {changed > 0 ? words.settingField.changed(changed) : ""}
            </Text>
            <Button variant="default" disabled={changed === 0} onClick={begin}>
              {words.settingField.discard}
            </Button>
            <Button type="submit" disabled={changed === 0} loading={isSaving}>
              {words.save}
            </Button>
          </Group>
        )}
      </form>
    </Paper>
  );
}
