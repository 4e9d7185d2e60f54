import { Center, Loader } from "@mantine/core";
import { words } from "../_words.ts";

/** What is shown until a page is known. */
export function PageLoading() {
  return (
    <Center mih="60dvh">
      <Loader aria-label={words.loading} />
    </Center>
  );
}
