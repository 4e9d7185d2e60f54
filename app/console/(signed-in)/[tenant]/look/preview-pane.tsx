"use client";

import {
  ActionIcon,
  Alert,
  Group,
  List,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Text,
  Tooltip,
} from "@mantine/core";
import { IconAlertTriangle, IconArrowLeft, IconArrowRight, IconCircleCheck } from "@tabler/icons-react";
import { useMemo } from "react";
import { Failure } from "../../../_parts/answers.tsx";
import { SearchField } from "../../../_parts/filters.tsx";
import { MessagePreviews } from "../../../_parts/preview/message-previews.tsx";
import { PageFrame } from "../../../_parts/preview/page-frame.tsx";
import {
  LanguageChoice,
  type PreviewView,
  SchemeChoice,
  ScreenChoice,
} from "../../../_parts/preview/preview-view.tsx";
import { spoken } from "../../../_parts/protocol-name.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { words } from "../../../_words.ts";
import { type Drawn, displayedOf } from "./displayed.ts";
import { PictureGrid } from "./picture-grid.tsx";

/** A picture that can be shown. */
export interface ListedPicture {
  name: string;
  state: string | null;
}

export type View = keyof typeof words.look.views;

/** What the address says that the preview shows. */
export function useShownView(): { view: View; state: string; search: string } {
  const [value] = useSearchState();
  const named = value("view");
  return {
    view: Object.hasOwn(words.look.views, named) ? (named as View) : "one",
    state: value("state") || "login_init",
    search: value("states").trim().toLowerCase(),
  };
}

/** The preview: one state, all of them, or the messages. */
export function PreviewPane({
  pictures,
  markup,
  drawn,
  shown,
  warnings,
  error,
}: {
  pictures: readonly ListedPicture[];
  /** Of the one state; undefined while it is drawn. */
  markup: string | undefined;
  /** Undefined while the theme is derived. */
  drawn: Drawn | undefined;
  shown: PreviewView;
  warnings: readonly string[];
  /** What the service said against the settings that are tried. */
  error: { message: string } | null;
}) {
  const [, change] = useSearchState();
  const { view, state, search } = useShownView();
  const { language, scheme, screen } = shown;
  const displayed = useMemo(
    () => (drawn && markup !== undefined ? displayedOf(drawn, markup, { still: false }) : null),
    [drawn, markup],
  );
  const at = pictures.findIndex(({ name }) => name === state);
  const show = (name: string | undefined) => {
    if (name) change({ state: name === "login_init" ? "" : name, view: "" }, { replaces: true });
  };
  const names = pictures
    .filter(({ name }) => `${name} ${spoken(name)}`.toLowerCase().includes(search))
    .map(({ name }) => name);
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          size="xs"
          aria-label={words.look.view}
          value={view}
          onChange={(chosen) => change({ view: chosen === "one" ? "" : chosen }, { replaces: true })}
          data={Object.entries(words.look.views).map(([value, label]) => ({ value, label }))}
        />
        <SchemeChoice scheme={scheme} />
        {view !== "messages" && <ScreenChoice screen={screen} />}
      </Group>
      <Group gap="sm" align="flex-end">
        <LanguageChoice language={language} />
        {view === "one" && (
          <Group gap={6} align="flex-end" wrap="nowrap" flex={1} miw={240}>
            <Select
              label={words.look.state}
              data={groupsOf(pictures)}
              value={state}
              allowDeselect={false}
              searchable
              nothingFoundMessage={words.nothingFound}
              maxDropdownHeight={360}
              onChange={(name) => show(name ?? undefined)}
              flex={1}
            />
            <Step label={words.look.previous} icon="left" onClick={() => show(pictures.at(at - 1)?.name)} />
            <Step
              label={words.look.next}
              icon="right"
              onClick={() => show(pictures[(at + 1) % Math.max(1, pictures.length)]?.name)}
            />
          </Group>
        )}
        {view === "all" && (
          <>
            <SearchField name="states" label={words.look.searchStates} width={240} />
            <Text size="sm" c="dimmed" pb={8} role="status">
              {words.look.states(names.length)}
            </Text>
          </>
        )}
      </Group>
      {view === "messages" ? (
        <MessagePreviews
          language={language}
          scheme={scheme}
          {...(drawn?.texts ? { config: drawn.texts } : {})}
        />
      ) : view === "all" ? (
        drawn ? (
          <PictureGrid names={names} drawn={drawn} screen={screen} onOpen={show} />
        ) : (
          <Skeleton height={600} />
        )
      ) : error && !displayed ? null : (
        <PageFrame label={words.look.frame(spoken(state))} displayed={displayed} screen={screen} />
      )}
      {error && <Failure error={error} />}
      {view !== "messages" && <Contrast warnings={warnings} />}
    </Stack>
  );
}

/** Pictures below the state that they show, and other pages. */
function groupsOf(pictures: readonly ListedPicture[]) {
  const groups = Map.groupBy(pictures, ({ state }) => state);
  return [...groups].map(([state, items]) => ({
    group: state === null ? words.look.otherPages : spoken(state),
    items: items.map(({ name }) => ({ value: name, label: spoken(name) })),
  }));
}

function Step({ label, icon, onClick }: { label: string; icon: "left" | "right"; onClick(): void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={36} aria-label={label} onClick={onClick}>
        {icon === "left" ? <IconArrowLeft size={16} /> : <IconArrowRight size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** What the theme says of its colours. */
function Contrast({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0)
    return (
      <Group gap={6}>
        <IconCircleCheck size={16} />
        <Text size="sm" c="dimmed">
          {words.look.contrastOk}
        </Text>
      </Group>
    );
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title={words.look.warnings} role="status">
      <List size="sm" spacing={4}>
        {warnings.map((warning) => (
          <List.Item key={warning} style={{ overflowWrap: "anywhere" }}>
            {warning}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
