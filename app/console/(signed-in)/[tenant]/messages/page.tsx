import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Messages } from "./messages.tsx";

export const metadata: Metadata = { title: words.pages.messages };

export default function MessagesPage() {
  return <Messages />;
}
