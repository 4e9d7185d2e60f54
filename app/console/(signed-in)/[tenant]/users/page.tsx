import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Users } from "./users.tsx";

export const metadata: Metadata = { title: words.pages.users };

export default function UsersPage() {
  return <Users />;
}
