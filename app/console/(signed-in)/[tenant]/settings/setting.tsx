"use client";

import { Badge, Group, Paper, Text } from "@mantine/core";
import type { AdminOperations } from "../../../../../packages/server/src/interface.ts";
import type { DeclaredSetting } from "../../../_parts/declared-settings.ts";
import { duration } from "../../../_parts/duration.ts";
import { SettingField } from "../../../_parts/setting-field.tsx";
import { words } from "../../../_words.ts";
import type { Change } from "./setting-tree.ts";

/** A setting with its meaning, its bounds, and its value in force. */
export type ListedSetting = AdminOperations["listSettings"]["answer"][number];

const MAX_SHOWN = 120;

/** A value as one line. */
export function shownValue(value: unknown): string {
  if (value === undefined || value === null) return words.settings.notSet;
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const MINUTE = 60;

/** Writes a number of seconds with its unit, and with larger ones where they are easier to read. */
const shownSeconds = (seconds: number): string =>
  seconds < MINUTE
    ? words.settings.seconds(seconds)
    : `${words.settings.seconds(seconds)} (${duration(seconds * 1000)})`;

/** A value of a setting as one line, with its unit. */
const shownValueOf = (setting: ListedSetting, value: unknown): string =>
  typeof value === "number" && boundOf(setting)?.unit === "seconds" ? shownSeconds(value) : shownValue(value);

/** The value that the tenant itself has set; undefined if it has the server's, or the default. */
export const ownValue = ({ source, value }: ListedSetting): unknown =>
  source === "tenant" ? value : undefined;

/** Settings whose texts are colours or images. */
const formats: readonly [RegExp, DeclaredSetting["format"]][] = [
  [/^theme\.(light|dark)\./, "color"],
  [/^theme\.(logo\.(light|dark)|favicon)$/, "image"],
];

/** What the field of a setting takes. */
export function declaredOf({ name, bounds }: ListedSetting): DeclaredSetting {
  const bound = bounds.find((one) => one.name === name);
  const item = bounds.find((one) => one.name === `${name}.[]`);
  switch (bound?.kind) {
    case "boolean":
      return { type: "boolean" };
    case "choice":
      return { type: "string", enum: bound.values ?? [] };
    case "text":
      return {
        type: "string",
        format: formats.find(([names]) => names.test(name))?.[1],
        ...(bound.max === undefined ? {} : { maxLength: bound.max }),
      };
    // Of a duration also a text such as `12h`.
    case "number":
      return { type: ["number", "string"] };
    case "list":
      if (item?.kind === "text") return { type: "array", items: { type: "string" } };
      if (item?.kind === "choice")
        return { type: "array", items: { type: "string", enum: item.values ?? [] } };
      return { type: "array" };
    default:
      return { type: "object" };
  }
}

const boundOf = ({ name, bounds }: ListedSetting) => bounds.find((one) => one.name === name);

function boundsOf(setting: ListedSetting): string[] {
  const bound = boundOf(setting);
  if (!bound) return [];
  const { kind, min, max, unit, note } = bound;
  const shown = (count: number, said: (count: number) => string, saidOfSeconds: (span: string) => string) =>
    unit === "seconds" ? saidOfSeconds(shownSeconds(count)) : said(count);
  return [
    ...(min === undefined ? [] : [shown(min, words.settings.atLeast[kind], words.settings.notBelow)]),
    ...(max === undefined ? [] : [shown(max, words.settings.atMost[kind], words.settings.notAbove)]),
    ...(note === undefined ? [] : [note]),
  ];
}

/** One setting, which is changed in place. */
export function Setting({
  setting,
  changed,
  disabled,
  problem,
  onChange,
}: {
  setting: ListedSetting;
  changed: Change | undefined;
  disabled: boolean;
  /** What contradicts in the changes; undefined for nothing. */
  problem: string | undefined;
  onChange(value: unknown): void;
}) {
  const { name, description, secret, source, set_by } = setting;
  const isOwn = source === "tenant";
  const facts = [
    ...(isOwn || secret
      ? []
      : [words.settings.inForce(shownValueOf(setting, setting.value), words.settings.sources[source])]),
    ...(setting.default === undefined || source === "default"
      ? []
      : [words.settings.defaultIs(shownValueOf(setting, setting.default))]),
    ...boundsOf(setting),
    setting.variable,
  ];
  return (
    <Paper withBorder p="md">
      <SettingField
        label={name}
        description={description}
        declared={declaredOf(setting)}
        value={changed ? changed.value : disabled ? setting.value : ownValue(setting)}
        secret={secret ? (isOwn ? "set" : "unset") : undefined}
        disabled={disabled}
        error={changed && problem?.includes(name) ? problem : undefined}
        onChange={onChange}
      />
      <Group justify="space-between" align="flex-start" gap="xs" mt={6} mih={24}>
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {facts.join(" · ")}
        </Text>
        <Group gap="xs" wrap="nowrap" ms="auto">
          {set_by !== "tenant" && (
            <Badge variant="light" color="gray" tt="none">
              {words.settings.setBy[set_by]}
            </Badge>
          )}
          {changed ? (
            <Badge variant="light" color="yellow" tt="none">
              {words.settings.changed}
            </Badge>
          ) : (
            isOwn && (
              <Badge variant="light" tt="none">
                {words.settings.set}
              </Badge>
            )
          )}
        </Group>
      </Group>
    </Paper>
  );
}
