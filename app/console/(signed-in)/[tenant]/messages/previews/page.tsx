import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { SavedMessages } from "./saved-messages.tsx";

export const metadata: Metadata = { title: words.messagePreviews.title };

export default function MessagePreviewsPage() {
  return <SavedMessages />;
}
