"use client";

import { Box, Button, Grid, NavLink, Select, Skeleton, Stack, TextInput, Title } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconHistory, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { Empty, Failure } from "../../../_parts/answers.tsx";
import { OfConfiguration } from "../../../_parts/own-tenant.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useMay, usePagePath, useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { SaveBar } from "./save-bar.tsx";
import { type ListedSetting, Setting } from "./setting.tsx";
import { useMaySet, useSettingChanges } from "./setting-changes.ts";

const DEBOUNCE_MS = 200;

/** Settings that a search shows; a longer word finds the others. */
const MAX_FOUND = 60;

const sectionOf = ({ name }: ListedSetting) => name.split(".", 1)[0] ?? "";

/** All settings of the tenant: by section or by a search, changed in place and saved together. */
export function Settings() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const may = useMay();
  const pathOf = usePagePath();
  const [value, show] = useSearchState();
  const {
    data: listed = [],
    error,
    isPending,
    refetch,
  } = useQuery(trpc.listSettings.queryOptions({ tenant }));
  const { changes, since, problem, round, begin, rebase, set } = useSettingChanges();
  const mayBeSet = useMaySet();
  const [typed, setTyped] = useState(value("q"));
  const search = useDebouncedCallback((q: string) => show({ q }, { replaces: true }), DEBOUNCE_MS);
  const sections = [...new Set(listed.map(sectionOf))];
  const section = sections.includes(value("section")) ? value("section") : (sections[0] ?? "");
  const q = value("q").trim().toLowerCase();
  const isFound = ({ name, description }: ListedSetting) =>
    name.includes(q) || description.toLowerCase().includes(q);
  const shown = q
    ? listed.filter(isFound).slice(0, MAX_FOUND)
    : listed.filter((setting) => sectionOf(setting) === section);
  return (
    <>
      <PageHead title={words.pages.settings} sentence={words.settings.sentence}>
        {may("listSettingsHistory") && (
          <Button
            component={Link}
            href={pathOf("settings/history")}
            variant="default"
            leftSection={<IconHistory size={16} />}
          >
            {words.settings.history}
          </Button>
        )}
      </PageHead>
      <OfConfiguration />
      <TextInput
        aria-label={words.settings.search}
        placeholder={words.settings.search}
        type="search"
        leftSection={<IconSearch size={16} />}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          search(currentTarget.value);
        }}
        maw={480}
      />
      {error && listed.length === 0 && <Failure error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton height={600} />}
      {listed.length > 0 && (
        <Grid>
          <Grid.Col span={{ base: 12, sm: 3 }}>
            <Select
              hiddenFrom="sm"
              label={words.settings.section}
              data={sections}
              value={section}
              allowDeselect={false}
              onChange={(chosen) => {
                setTyped("");
                show({ section: chosen ?? "", q: "" });
              }}
            />
            <Box component="nav" aria-label={words.settings.sections} visibleFrom="sm">
              {sections.map((name) => (
                <NavLink
                  key={name}
                  component="button"
                  type="button"
                  label={name}
                  active={!q && name === section}
                  aria-current={!q && name === section ? "true" : undefined}
                  style={{ borderRadius: "var(--mantine-radius-md)" }}
                  onClick={() => {
                    setTyped("");
                    show({ section: name, q: "" });
                  }}
                />
              ))}
            </Box>
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 9 }}>
            <Stack component="section" gap="md" pb={80}>
              <Title order={2} size="h4">
                {q ? words.settings.found(shown.length) : section}
              </Title>
              {shown.length === 0 && (
                <Empty title={words.nothingFound} sentence={words.settings.nothingFound} />
              )}
              {shown.map((setting) => (
                <Setting
                  key={`${setting.name} ${round}`}
                  setting={setting}
                  changed={changes[setting.name]}
                  disabled={!mayBeSet(setting)}
                  problem={problem}
                  onChange={(next) => set(setting, next)}
                />
              ))}
            </Stack>
          </Grid.Col>
        </Grid>
      )}
      <SaveBar
        problem={problem}
        changes={Object.values(changes)}
        since={since}
        secrets={new Set(listed.filter(({ secret }) => secret).map(({ name }) => name))}
        onConflict={rebase}
        onDone={begin}
      />
    </>
  );
}
