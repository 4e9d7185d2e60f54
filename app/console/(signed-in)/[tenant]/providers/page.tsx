import type { Metadata } from "next";
import { oauthProviderPatch, samlProviderPatch } from "#server/http/admin/settings-schema";
import { declaredSettings } from "../../../_parts/declared-settings.ts";
import { words } from "../../../_words.ts";
import { Providers } from "./providers.tsx";

export const metadata: Metadata = { title: words.pages.providers };

export default function ProvidersPage() {
  return (
    <Providers oauth={declaredSettings(oauthProviderPatch)} saml={declaredSettings(samlProviderPatch)} />
  );
}
