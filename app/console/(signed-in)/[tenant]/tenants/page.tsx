import type { Metadata } from "next";
import { words } from "../../../_words.ts";
import { Tenants } from "./tenants.tsx";

export const metadata: Metadata = { title: words.pages.tenants };

export default function TenantsPage() {
  return <Tenants />;
}
