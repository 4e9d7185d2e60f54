"use client";

import { Anchor, Breadcrumbs, Group, Text } from "@mantine/core";
import Link from "next/link";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { MessagePreviews } from "../../../../_parts/preview/message-previews.tsx";
import { LanguageChoice, SchemeChoice, usePreviewView } from "../../../../_parts/preview/preview-view.tsx";
import { usePagePath } from "../../../../_shell/me.tsx";
import { words } from "../../../../_words.ts";

/** Every mail and SMS in the settings in force. */
export function SavedMessages() {
  const pathOf = usePagePath();
  const { language, scheme } = usePreviewView();
  return (
    <>
      <Breadcrumbs>
        <Anchor component={Link} size="sm" href={pathOf("messages")}>
          {words.pages.messages}
        </Anchor>
        <Text size="sm">{words.messagePreviews.open}</Text>
      </Breadcrumbs>
      <PageHead title={words.messagePreviews.title} sentence={words.messagePreviews.sentence} />
      <Group align="flex-end" gap="sm">
        <LanguageChoice language={language} />
        <SchemeChoice scheme={scheme} />
      </Group>
      <MessagePreviews language={language} scheme={scheme} />
    </>
  );
}
