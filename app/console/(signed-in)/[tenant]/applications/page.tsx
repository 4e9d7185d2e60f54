import type { Metadata } from "next";
import { openidClientPatch } from "#server/http/admin/settings-schema";
import { declaredSettings } from "../../../_parts/declared-settings.ts";
import { words } from "../../../_words.ts";
import { Applications } from "./applications.tsx";

export const metadata: Metadata = { title: words.pages.applications };

export default function ApplicationsPage() {
  return <Applications declared={declaredSettings(openidClientPatch)} />;
}
