"use client";

import { Button } from "@mantine/core";
import { Notice } from "./_shell/notice.tsx";
import { words } from "./_words.ts";

export default function Failed({ reset }: { error: Error; reset: () => void }) {
  return (
    <Notice title={words.failed.title} sentence={words.failed.sentence}>
      <Button onClick={reset}>{words.retry}</Button>
    </Notice>
  );
}
