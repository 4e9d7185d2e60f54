import type { Metadata } from "next";
import { openidClientPatch } from "#server/http/admin/settings-schema";
import { declaredSettings } from "../../../../_parts/declared-settings.ts";
import { words } from "../../../../_words.ts";
import { Application } from "./application.tsx";

export const metadata: Metadata = { title: words.pages.applications };

export default async function ApplicationPage({ params }: { params: Promise<{ application: string }> }) {
  const { application } = await params;
  return <Application id={decodeURIComponent(application)} declared={declaredSettings(openidClientPatch)} />;
}
