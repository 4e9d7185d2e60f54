"use client";

import { Button } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { Panel } from "../../../../_parts/panel.tsx";
import { words } from "../../../../_words.ts";

/**
 * Begins a test sign-in in another window, which the click opens at once: browsers block one that opens later.
 *
 * @param begin makes the test, and resolves with the address where the browser begins
 */
export function TestSignIn({ begin, loading }: { begin(): Promise<{ url: string }>; loading: boolean }) {
  const open = () => {
    const opened = window.open("about:blank", "_blank");
    begin().then(
      ({ url }) => opened?.location.assign(url),
      () => opened?.close(),
    );
  };
  return (
    <Panel
      title={words.providers.test.title}
      sentence={words.providers.test.sentence}
      action={
        <Button
          variant="default"
          rightSection={<IconExternalLink size={16} />}
          loading={loading}
          onClick={open}
          style={{ flexShrink: 0 }}
        >
          {words.providers.test.begin}
        </Button>
      }
    >
      {null}
    </Panel>
  );
}
