"use client";

import { SimpleGrid, Stack } from "@mantine/core";
import { presets } from "#server/theme/presets";
import { Panel } from "../../../_parts/panel.tsx";
import { spoken } from "../../../_parts/protocol-name.ts";
import { SettingField } from "../../../_parts/setting-field.tsx";
import { words } from "../../../_words.ts";
import { declaredOf, type ListedSetting } from "../settings/setting.tsx";

/** The settings of a theme, in groups. */

type Group = keyof typeof words.look.groups;

const groups: readonly [Group, RegExp][] = [
  ["brand", /^(service\.name|theme\.logo\.|theme\.favicon$)/],
  ["light", /^theme\.light\./],
  ["dark", /^theme\.dark\./],
  // A setting of a later version, too.
  ["shape", /^theme\./],
];

const order: readonly Group[] = ["shape", "light", "dark", "brand"];

const groupOf = ({ name }: ListedSetting) => groups.find(([, names]) => names.test(name))?.[0];

const labels: Partial<Record<string, string>> = words.look.labels;

const labelOf = (name: string) => labels[name] ?? spoken(name.split(".").at(-1) ?? name);

/** The colour that a preset has where none is set. */
function presetColor(name: string, preset: unknown): string | undefined {
  const [, scheme, color] = name.split(".");
  const { [String(preset)]: chosen = presets.stile } = presets as Record<string, typeof presets.stile>;
  if (scheme !== "light" && scheme !== "dark") return undefined;
  return (chosen[scheme] as unknown as Record<string, string>)[color ?? ""];
}

export function ThemeFields({
  settings,
  fieldValue,
  preset,
  faultOf,
  maySet,
  onChange,
}: {
  settings: readonly ListedSetting[];
  fieldValue(setting: ListedSetting): unknown;
  preset: unknown;
  faultOf(name: string): string | undefined;
  maySet(setting: ListedSetting): boolean;
  onChange(setting: ListedSetting, value: unknown): void;
}) {
  return (
    <Stack>
      {order.map((group) => (
        <Panel key={group} title={words.look.groups[group]}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="md">
            {settings
              .filter((setting) => groupOf(setting) === group)
              .map((setting) => (
                <SettingField
                  key={setting.name}
                  label={labelOf(setting.name)}
                  declared={declaredOf(setting)}
                  value={fieldValue(setting)}
                  placeholder={presetColor(setting.name, preset)}
                  error={faultOf(setting.name)}
                  disabled={!maySet(setting)}
                  onChange={(value) => onChange(setting, value)}
                />
              ))}
          </SimpleGrid>
        </Panel>
      ))}
    </Stack>
  );
}
