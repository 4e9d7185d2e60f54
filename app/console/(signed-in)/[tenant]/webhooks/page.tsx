import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Webhooks } from "./webhooks.tsx";

export const metadata: Metadata = { title: words.pages.webhooks };

export default function WebhooksPage() {
  return <Webhooks />;
}
