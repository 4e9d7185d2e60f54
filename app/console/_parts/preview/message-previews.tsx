"use client";

import {
  Box,
  Code,
  Grid,
  NavLink,
  ScrollArea,
  Select,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
  useMantineStyleNonce,
} from "@mantine/core";
import { IconMail, IconMessage, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PageLanguage } from "#words/language-tags";
import type { AdminOperations } from "../../../../packages/server/src/interface.ts";
import { useTRPCClient } from "../../_api/provider.tsx";
import { useTenant } from "../../_shell/me.tsx";
import { words } from "../../_words.ts";
import { Empty, Failure } from "../answers.tsx";
import { spoken } from "../protocol-name.ts";
import { useSearchState } from "../search-state.ts";
import type { Scheme } from "./preview-view.tsx";

type Previews = AdminOperations["previewMessages"]["answer"];
type Preview = Previews[number];
type Config = NonNullable<AdminOperations["previewMessages"]["input"]["body"]>["config"];

const STALE_MS = 5 * 60_000;

const keyOf = ({ channel, kind, example }: Preview) =>
  [channel, kind, ...(example === null ? [] : [example])].join(".");

const labelOf = ({ kind, example }: Preview) =>
  example === null ? spoken(kind) : `${spoken(kind)}: ${spoken(example)}`;

/** Every mail and SMS that can be sent: its subject, its HTML and its text. */
export function MessagePreviews({
  language,
  scheme,
  config,
}: {
  language: PageLanguage;
  scheme: Scheme;
  /** Settings that are tried. */
  config?: Config;
}) {
  const tenant = useTenant();
  const client = useTRPCClient();
  const [value, change] = useSearchState();
  const [sought, setSought] = useState("");
  const body = { language, ...(config ? { config } : {}) };
  const { data, error, refetch } = useQuery({
    queryKey: ["previewMessages", tenant, body],
    queryFn: ({ signal }) => client.previewMessages.mutate({ tenant, body }, { signal }),
    staleTime: STALE_MS,
  });
  const [last, setLast] = useState(data);
  if (data && data !== last) setLast(data);
  const previews = data ?? last;
  if (!previews)
    return error ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton height={600} />;
  const chosen = previews.find((preview) => keyOf(preview) === value("message")) ?? previews[0];
  const found = previews.filter((preview) =>
    `${labelOf(preview)} ${preview.subject ?? ""}`.toLowerCase().includes(sought.trim().toLowerCase()),
  );
  const choose = (key: string) => change({ message: key }, { replaces: true });
  return (
    <Stack>
      {error && <Failure error={error} />}
      <Grid>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Select
            hiddenFrom="md"
            label={words.messagePreviews.message}
            data={previews.map((preview) => ({ value: keyOf(preview), label: labelOf(preview) }))}
            value={chosen ? keyOf(chosen) : null}
            allowDeselect={false}
            searchable
            onChange={(key) => choose(key ?? "")}
          />
          <Stack visibleFrom="md" gap="xs">
            <TextInput
              type="search"
              aria-label={words.messagePreviews.search}
              placeholder={words.messagePreviews.search}
              leftSection={<IconSearch size={16} />}
              value={sought}
              onChange={({ currentTarget }) => setSought(currentTarget.value)}
            />
            <ScrollArea.Autosize
              mah={720}
              viewportProps={{ tabIndex: 0, role: "group", "aria-label": words.messagePreviews.list }}
            >
              <Box component="nav" aria-label={words.messagePreviews.list}>
                {found.map((preview) => {
                  const isChosen = preview === chosen;
                  return (
                    <NavLink
                      key={keyOf(preview)}
                      component="button"
                      type="button"
                      label={labelOf(preview)}
                      description={preview.subject ?? words.messages.channels.sms}
                      leftSection={
                        preview.channel === "mail" ? <IconMail size={16} /> : <IconMessage size={16} />
                      }
                      active={isChosen}
                      aria-current={isChosen ? "true" : undefined}
                      style={{ borderRadius: "var(--mantine-radius-md)" }}
                      onClick={() => choose(keyOf(preview))}
                    />
                  );
                })}
                {found.length === 0 && <Empty title={words.nothingFound} />}
              </Box>
            </ScrollArea.Autosize>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {chosen && <OneMessage preview={chosen} language={language} scheme={scheme} />}
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/**
 * Returns a mail as the document of a frame in a colour scheme. Its media queries are replaced: the browser answers them for
 * the system.
 *
 * @param nonce the frame inherits the policy of the page around it, which allows styles by it
 */
function framedMail(html: string, scheme: Scheme, nonce: string): string {
  const query = scheme === "dark" ? "all" : "not all";
  return html
    .replace("<style>", () => `<style nonce="${nonce}">`)
    .replaceAll("@media (prefers-color-scheme: dark)", `@media ${query}`)
    .replace("</head>", () => `<style nonce="${nonce}">:root { color-scheme: ${scheme}; }</style></head>`);
}

function OneMessage({
  preview,
  language,
  scheme,
}: {
  preview: Preview;
  language: PageLanguage;
  scheme: Scheme;
}) {
  const nonce = useMantineStyleNonce()?.() ?? "";
  const { subject, html, text } = preview;
  return (
    <Stack component="section" gap="md">
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {subject === null ? words.messages.channels.sms : words.messagePreviews.subject}
        </Text>
        <Title order={2} size="h4" lang={language}>
          {subject ?? labelOf(preview)}
        </Title>
      </Stack>
      {html !== null && (
        <iframe
          className="mail-frame"
          title={words.messagePreviews.frame(labelOf(preview))}
          sandbox=""
          srcDoc={framedMail(html, scheme, nonce)}
          style={{ colorScheme: scheme }}
        />
      )}
      <Stack gap={4}>
        <Title order={3} size="h5">
          {html === null ? words.messagePreviews.text : words.messagePreviews.textPart}
        </Title>
        <Code block lang={language} style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {text}
        </Code>
      </Stack>
    </Stack>
  );
}
