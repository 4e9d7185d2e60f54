"use client";

import { useDebouncedValue } from "@mantine/hooks";
import { type ListedSetting, ownValue } from "../settings/setting.tsx";
import { type Change, mergePatchOf } from "../settings/setting-tree.ts";

/** The look of a tenant with changes that are not saved. */

const DEBOUNCE_MS = 200;

type Config = Record<string, unknown>;

/** Whether a setting is one of the look. */
export const isOfLook = ({ name }: ListedSetting): boolean =>
  name.startsWith("theme.") || name === "service.name" || name === "words";

/** The value that the tenant has set: of the default tenant, the configuration. Undefined for none. */
export function setValue(setting: ListedSetting, isDefaultTenant: boolean): unknown {
  if (!isDefaultTenant) return ownValue(setting);
  return setting.source === "default" || setting.source === "derived" ? undefined : setting.value;
}

/** What pages would have of a setting. */
export function triedValue(
  { name, value, default: byDefault }: ListedSetting,
  changes: Readonly<Record<string, Change>>,
): unknown {
  const change = changes[name];
  return change ? (change.value ?? byDefault) : value;
}

/**
 * The settings to try, a moment after they were typed. What is drawn does not depend on the theme, and a theme not on the texts,
 * so each is asked for alone.
 */
export function useTriedSettings(changes: Readonly<Record<string, Change>>): {
  theme?: Config;
  texts?: Config;
} {
  const [settled] = useDebouncedValue(changes, DEBOUNCE_MS);
  const { theme, ...texts } = mergePatchOf(Object.values(settled));
  return {
    ...(theme === undefined ? {} : { theme: { theme } }),
    ...(Object.keys(texts).length === 0 ? {} : { texts }),
  };
}

/**
 * What the service said against a setting: the end of a sentence that begins with its name.
 *
 * @returns undefined if it is about another one
 */
export function faultOf(error: { message: string } | null, name: string): string | undefined {
  if (!error) return undefined;
  const { message } = error;
  const at = message.indexOf(name);
  const after = message.slice(at + name.length);
  return at >= 0 && /^[\s):]/.test(after) ? after.replace(/^[\s):]+/, "") : undefined;
}

/** The configuration that has these settings, as JSON. */
export function configurationOf(
  settings: readonly ListedSetting[],
  changes: Readonly<Record<string, Change>>,
): string {
  const set = settings.flatMap((setting) => {
    const change = changes[setting.name];
    const value = change ? change.value : setValue(setting, true);
    return value === undefined || value === null ? [] : [{ name: setting.name, before: undefined, value }];
  });
  return JSON.stringify(mergePatchOf(set), null, 2);
}
