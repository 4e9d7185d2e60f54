"use client";

import { Group } from "@mantine/core";
import { BackLink } from "../../../../_parts/back-link.tsx";
import { PageHead } from "../../../../_parts/page-head.tsx";
import { MessagePreviews } from "../../../../_parts/preview/message-previews.tsx";
import { LanguageChoice, SchemeChoice, usePreviewView } from "../../../../_parts/preview/preview-view.tsx";
import { words } from "../../../../_words.ts";

/** Every mail and SMS in the settings in force. */
export function SavedMessages() {
  const { language, scheme } = usePreviewView();
  return (
    <>
      <BackLink to="messages" label={words.pages.messages} />
      <PageHead title={words.messagePreviews.title} sentence={words.messagePreviews.sentence} />
      <Group align="flex-end" gap="sm">
        <LanguageChoice language={language} />
        <SchemeChoice scheme={scheme} />
      </Group>
      <MessagePreviews language={language} scheme={scheme} />
    </>
  );
}
