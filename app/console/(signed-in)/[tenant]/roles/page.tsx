import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Roles } from "./roles.tsx";

export const metadata: Metadata = { title: words.pages.roles };

export default function RolesPage() {
  return <Roles />;
}
