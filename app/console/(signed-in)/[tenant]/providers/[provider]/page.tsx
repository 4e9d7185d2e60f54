import type { Metadata } from "next";
import { oauthProviderPatch, samlProviderPatch } from "#server/http/admin/settings-schema";
import { declaredSettings } from "../../../../_parts/declared-settings.ts";
import { words } from "../../../../_words.ts";
import { OAuthProvider } from "./oauth-provider.tsx";
import { SamlProvider } from "./saml-provider.tsx";

export const metadata: Metadata = { title: words.pages.providers };

/** The ids of SAML providers are UUIDs, those of others are not. */
export default async function ProviderPage({ params }: { params: Promise<{ provider: string }> }) {
  const { provider } = await params;
  return /^[0-9a-f-]{36}$/.test(provider) ? (
    <SamlProvider id={provider} declared={declaredSettings(samlProviderPatch)} />
  ) : (
    <OAuthProvider id={decodeURIComponent(provider)} declared={declaredSettings(oauthProviderPatch)} />
  );
}
