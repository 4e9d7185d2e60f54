"use client";

import { useDebouncedCallback } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { useOwnTenant } from "../../../_parts/own-tenant.tsx";
import { useMay, useMe, useTenant } from "../../../_shell/me.tsx";
import { type ListedSetting, ownValue } from "./setting.tsx";
import { type Change, mergePatchOf } from "./setting-tree.ts";

const CHECK_AFTER_MS = 300;

/**
 * Changes of settings that are not saved yet.
 *
 * @returns beside them `problem`: what the service says against them while they are made; undefined for nothing. `since`:
 *   when what they change was changed last
 */
export function useSettingChanges() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { data: own } = useOwnTenant();
  const [changes, setChanges] = useState<Readonly<Record<string, Change>>>({});
  const [since, setSince] = useState<string>();
  // Fields of JSON begin anew with what is stored.
  const [round, setRound] = useState(0);
  const check = useMutation(trpc.checkSettings.mutationOptions());
  const checkSoon = useDebouncedCallback(
    (made: Change[]) => check.mutate({ tenant, body: { config: mergePatchOf(made) } }),
    CHECK_AFTER_MS,
  );
  const change = (next: Readonly<Record<string, Change>>) => {
    setChanges(next);
    const made = Object.values(next);
    if (made.length > 0) checkSoon(made);
  };
  return {
    changes,
    since,
    problem: Object.keys(changes).length > 0 ? check.error?.message : undefined,
    round,
    begin() {
      setChanges({});
      setRound((number) => number + 1);
    },
    /** Makes them changes of what is in force now. */
    async rebase() {
      await queries.invalidateQueries();
      const listed = queries.getQueryData(trpc.listSettings.queryKey({ tenant })) ?? [];
      setSince(queries.getQueryData(trpc.getOwnTenant.queryKey({ tenant }))?.updated_at);
      setChanges((made) =>
        Object.fromEntries(
          Object.entries(made).map(([name, one]) => {
            const setting = listed.find((other) => other.name === name);
            return [name, setting ? { ...one, before: ownValue(setting) } : one];
          }),
        ),
      );
    },
    /**
     * @param value null for the default
     * @param before the value that it replaces
     */
    set(setting: ListedSetting, value: unknown, before = ownValue(setting)) {
      const { [setting.name]: _, ...others } = changes;
      if (Object.keys(changes).length === 0) setSince(own?.updated_at);
      const isSame = JSON.stringify(value ?? null) === JSON.stringify(before ?? null);
      const made = { name: setting.name, before, value: value ?? null };
      change(isSame ? others : { ...others, [setting.name]: made });
    },
  };
}

/** Returns whether the account may set a setting of the shown tenant. Those of the default tenant are the configuration's. */
export function useMaySet(): (setting: ListedSetting) => boolean {
  const me = useMe();
  const may = useMay();
  const { data: own } = useOwnTenant();
  const mayChange = own?.default === false && may("changeOwnTenant");
  return ({ set_by }) =>
    mayChange && (set_by === "tenant" || (set_by === "operator" && me.role === "operator"));
}
