import { Anchor } from "@mantine/core";
import { Notice } from "./_shell/notice.tsx";
import { words } from "./_words.ts";

export default function NotFound() {
  return (
    <Notice title={words.notFound.title} sentence={words.notFound.sentence}>
      <Anchor href="/console">{words.notFound.home}</Anchor>
    </Notice>
  );
}
