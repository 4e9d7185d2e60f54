import { Button, Group } from "@mantine/core";
import type { Metadata } from "next";
import { Notice } from "../_shell/notice.tsx";
import { words } from "../_words.ts";

export const metadata: Metadata = { title: words.signedOut.title };

export default function SignedOut() {
  return (
    <Notice title={words.signedOut.title} sentence={words.signedOut.sentence}>
      <Group>
        <Button component="a" href="/api/console/sign-in">
          {words.signedOut.again}
        </Button>
      </Group>
    </Notice>
  );
}
