"use client";

import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "../../../../_api/provider.tsx";
import { Empty, Failure } from "../../../../_parts/answers.tsx";
import { Panel } from "../../../../_parts/panel.tsx";
import { logoOf } from "../../../../_parts/preview/logo.ts";
import { PageFrame, type Screen } from "../../../../_parts/preview/page-frame.tsx";
import {
  LanguageChoice,
  SchemeChoice,
  ScreenChoice,
  usePreviewView,
} from "../../../../_parts/preview/preview-view.tsx";
import { usePagePreviews } from "../../../../_parts/preview/use-page-previews.ts";
import { spoken } from "../../../../_parts/protocol-name.ts";
import { useTenant } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";
import { type DeclaredGraph, declaredIn, type Flow, offeredActions, type Step } from "./flow-path.ts";

const embeddings: Partial<Record<string, string>> = words.embeddings;

const phones = /iphone|ipad|ios|android/i;

/** The screen that a client has as a rule. */
const screenOf = ({ client }: Step): Screen => (phones.test(client.platform ?? "") ? "phone" : "desktop");

/** The state after a step as its user saw it, with the actions that it offered and without values. */
export function SeenState({
  flow,
  step,
  declared,
}: {
  flow: Flow;
  step: Step;
  declared: DeclaredGraph | undefined;
}) {
  const { language, scheme, screen } = usePreviewView(screenOf(step));
  const known = declared ? declaredIn(declared, flow.type, step.state) : null;
  const pictures = known
    ? [
        {
          ...known,
          actions: declared ? offeredActions(step, flow.type, declared) : [],
          ...(step.error === null ? {} : { error: step.error, inputs: step.inputs.map(({ name }) => name) }),
        },
      ]
    : [];
  const { previews, error } = usePagePreviews({ language, pictures }, { enabled: known !== null });
  const { data: theme } = useQuery(
    useTRPC().listSettings.queryOptions({ tenant: useTenant(), query: { section: "theme" } }),
  );
  const logo = logoOf((name) => theme?.find((setting) => setting.name === name)?.value, scheme);
  const state = step.state === null ? null : spoken(step.state);
  const markup = previews?.pictures[0]?.markup;
  const style = previews?.style[scheme];
  const direction = previews?.direction ?? "ltr";
  const displayed = useMemo(
    () =>
      markup === undefined || style === undefined
        ? null
        : { markup, style, language, direction, logo, still: false },
    [markup, style, language, direction, logo],
  );
  return (
    <div className="preview-pane">
      <Panel title={words.flow.seen} sentence={words.flow.seenSentence}>
        <Stack gap="sm">
          <Group gap="sm" align="flex-end">
            <LanguageChoice language={language} />
            <SchemeChoice scheme={scheme} />
            <ScreenChoice screen={screen} />
          </Group>
          <Text size="sm" role="status">
            {[
              ...(state === null ? [] : [state]),
              words.flow.embedded(embeddings[step.client.embedding] ?? step.client.embedding),
            ].join(" · ")}
          </Text>
          {error && <Failure error={error} />}
          {error && !displayed ? null : state !== null && (known !== null || !declared) ? (
            <PageFrame label={words.flow.seenFrame(state)} displayed={displayed} screen={screen} />
          ) : (
            <Empty title={state === null ? words.flow.seenNothing : words.flow.seenUnknown} />
          )}
        </Stack>
      </Panel>
    </div>
  );
}
