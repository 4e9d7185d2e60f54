import { Center, Loader, VisuallyHidden } from "@mantine/core";
import { words } from "../_words.ts";

/** What is shown until a page is known. */
export function PageLoading() {
  return (
    <Center component="main" mih="60dvh">
      <VisuallyHidden component="h1">{words.loading}</VisuallyHidden>
      <Loader aria-hidden />
    </Center>
  );
}
