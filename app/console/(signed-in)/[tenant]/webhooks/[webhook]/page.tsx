import type { Metadata } from "next";
import { words } from "../../../../_words.ts";
import { Webhook } from "./webhook.tsx";

export const metadata: Metadata = { title: words.pages.webhooks };

export default async function WebhookPage({ params }: { params: Promise<{ webhook: string }> }) {
  const { webhook } = await params;
  return <Webhook id={decodeURIComponent(webhook)} />;
}
