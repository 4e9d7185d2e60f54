"use client";

import { Button, Code, CopyButton, Grid, SegmentedControl, Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC } from "../../../_api/provider.tsx";
import { Failure } from "../../../_parts/answers.tsx";
import { OfConfiguration, useOwnTenant } from "../../../_parts/own-tenant.tsx";
import { PageHead } from "../../../_parts/page-head.tsx";
import { Panel } from "../../../_parts/panel.tsx";
import { logoOf } from "../../../_parts/preview/logo.ts";
import { usePreviewView } from "../../../_parts/preview/preview-view.tsx";
import { usePagePreviews } from "../../../_parts/preview/use-page-previews.ts";
import { useSearchState } from "../../../_parts/search-state.ts";
import { useTenant } from "../../../_shell/me.tsx";
import { words } from "../../../_words.ts";
import { SaveBar } from "../settings/save-bar.tsx";
import type { ListedSetting } from "../settings/setting.tsx";
import { useMaySet, useSettingChanges } from "../settings/setting-changes.ts";
import type { Drawn } from "./displayed.ts";
import { PreviewPane, useShownView } from "./preview-pane.tsx";
import { ThemeFields } from "./theme-fields.tsx";
import { configurationOf, faultOf, isOfLook, setValue, triedValue, useTriedSettings } from "./tried-look.ts";
import { type OwnTexts, WordsFields } from "./words-fields.tsx";

/** The pictures are the same until the service is updated. */
const FOREVER = Number.POSITIVE_INFINITY;

/** The theme and the words of the tenant, with a preview of what is typed. */
export function Look() {
  const tenant = useTenant();
  const trpc = useTRPC();
  const { data: own } = useOwnTenant();
  const { data: listed, error, refetch } = useQuery(trpc.listSettings.queryOptions({ tenant }));
  return (
    <>
      <PageHead title={words.pages.look} sentence={words.look.sentence} />
      {own?.default === true ? null : <OfConfiguration />}
      {error && !listed && <Failure error={error} retry={() => void refetch()} />}
      {listed && own ? (
        <Editor settings={listed.filter(isOfLook)} isDefaultTenant={own.default} />
      ) : (
        !error && <Skeleton height={600} />
      )}
    </>
  );
}

function Editor({
  settings,
  isDefaultTenant,
}: {
  settings: readonly ListedSetting[];
  isDefaultTenant: boolean;
}) {
  const tenant = useTenant();
  const trpc = useTRPC();
  const [value, change] = useSearchState();
  const [isPreviewed, setPreviewed] = useState(false);
  const { changes, since, problem, round, begin, rebase, set } = useSettingChanges();
  const mayBeSet = useMaySet();
  const shown = usePreviewView();
  const { state } = useShownView();
  const { language, scheme } = shown;
  const { data: pictures = [] } = useQuery(
    trpc.listPagePreviews.queryOptions({ tenant }, { staleTime: FOREVER }),
  );

  const tried = useTriedSettings(changes);
  const theme = usePagePreviews(tried.theme ? { config: tried.theme } : {});
  const picture = usePagePreviews({
    language,
    pictures: [state],
    ...(tried.texts ? { config: tried.texts } : {}),
  });
  const markup = picture.previews?.pictures.find(({ name }) => name === state)?.markup;

  const settingOf = (name: string) => settings.find((setting) => setting.name === name);
  const triedOf = (name: string) => {
    const setting = settingOf(name);
    return setting && triedValue(setting, changes);
  };
  const logo = logoOf(triedOf, scheme);
  const style = theme.previews?.style[scheme];
  const direction = picture.previews?.direction ?? "ltr";
  const texts = tried.texts;
  const textsKey = JSON.stringify(texts);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the texts.
  const drawn = useMemo<Drawn | undefined>(
    () => (style === undefined ? undefined : { language, direction, style, logo, texts }),
    [language, direction, style, logo, textsKey],
  );

  const maySet = (setting: ListedSetting) => isDefaultTenant || mayBeSet(setting);
  const fieldValue = (setting: ListedSetting) => {
    const made = changes[setting.name];
    return made ? made.value : setValue(setting, isDefaultTenant);
  };
  const setSetting = (setting: ListedSetting, next: unknown) =>
    set(setting, next, setValue(setting, isDefaultTenant));

  const wordsSetting = settingOf("words");
  const ownWords = ((wordsSetting && fieldValue(wordsSetting)) ?? {}) as Record<string, OwnTexts>;
  const setText = (path: string, text: string | null) => {
    if (!wordsSetting) return;
    const { [path]: _, ...others } = ownWords[language] ?? {};
    const { [language]: __, ...languages } = ownWords;
    const inLanguage = text === null ? others : { ...others, [path]: text };
    const all = Object.keys(inLanguage).length === 0 ? languages : { ...languages, [language]: inLanguage };
    setSetting(wordsSetting, Object.keys(all).length === 0 ? null : all);
  };
  const edited = value("edit") === "words" ? "words" : "theme";

  const fields = (
    <Stack key={round}>
      <SegmentedControl
        aria-label={words.look.part}
        value={edited}
        onChange={(chosen) => change({ edit: chosen === "words" ? "words" : "" }, { replaces: true })}
        data={Object.entries(words.look.parts).map(([part, label]) => ({ value: part, label }))}
        style={{ alignSelf: "flex-start" }}
      />
      {edited === "words" ? (
        <WordsFields
          language={language}
          state={pictures.find(({ name }) => name === state)?.state ?? null}
          markup={markup ?? ""}
          own={ownWords[language] ?? {}}
          faultOf={(path) => faultOf(picture.error, `words.${language}.${path}`)}
          disabled={!wordsSetting || !maySet(wordsSetting)}
          onChange={setText}
        />
      ) : (
        <ThemeFields
          settings={settings.filter(({ name }) => name !== "words")}
          fieldValue={fieldValue}
          preset={triedOf("theme.preset")}
          faultOf={(name) => faultOf(name.startsWith("theme.") ? theme.error : picture.error, name)}
          maySet={maySet}
          onChange={setSetting}
        />
      )}
      {isDefaultTenant && <Configuration text={configurationOf(settings, changes)} />}
    </Stack>
  );
  return (
    <>
      <SegmentedControl
        hiddenFrom="md"
        aria-label={words.look.part}
        fullWidth
        value={isPreviewed ? "preview" : "edit"}
        onChange={(chosen) => setPreviewed(chosen === "preview")}
        data={[
          { value: "edit", label: words.look.edit },
          { value: "preview", label: words.look.preview },
        ]}
      />
      <Grid pb={80}>
        <Grid.Col span={{ base: 12, md: 5 }} {...(isPreviewed ? { visibleFrom: "md" } : {})}>
          {fields}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }} {...(isPreviewed ? {} : { visibleFrom: "md" })}>
          <section aria-label={words.look.preview} className="preview-pane">
            <PreviewPane
              pictures={pictures}
              markup={markup}
              drawn={drawn}
              shown={shown}
              warnings={theme.previews?.warnings ?? []}
              error={theme.error ?? picture.error}
            />
          </section>
        </Grid.Col>
      </Grid>
      {!isDefaultTenant && (
        <SaveBar
          changes={Object.values(changes)}
          since={since}
          problem={problem}
          secrets={noSecrets}
          onConflict={rebase}
          onDone={begin}
        />
      )}
    </>
  );
}

const noSecrets: ReadonlySet<string> = new Set();

/** What the configuration of the server has to say for the look that is tried. */
function Configuration({ text }: { text: string }) {
  const isEmpty = text === "{}";
  return (
    <Panel
      title={words.look.configuration}
      sentence={isEmpty ? words.look.unchanged : words.look.configurationSentence}
      action={
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy} disabled={isEmpty}>
              {copied ? words.copied : words.copy}
            </Button>
          )}
        </CopyButton>
      }
    >
      {!isEmpty && (
        <Code
          block
          mah={320}
          tabIndex={0}
          style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", overflowY: "auto" }}
        >
          {text}
        </Code>
      )}
    </Panel>
  );
}
