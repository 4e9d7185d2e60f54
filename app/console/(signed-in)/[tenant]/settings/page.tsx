import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Settings } from "./settings.tsx";

export const metadata: Metadata = { title: words.pages.settings };

export default function SettingsPage() {
  return <Settings />;
}
