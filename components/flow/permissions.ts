/** What a page in a frame may be denied. */
type Feature = "publickey-credentials-get" | "publickey-credentials-create";

/** The draft of the standard, as Chromium has it (Permissions Policy, 8). */
interface PolicyDocument {
  featurePolicy?: { allowsFeature(feature: Feature): boolean };
}

/**
 * Whether this page may run a passkey ceremony. A browser that does not tell is Safari or Firefox: both let a page in a
 * frame use passkeys, and Safari creates none there.
 */
export function mayUse(feature: Feature): boolean {
  if (typeof window === "undefined" || window.parent === window) return true;
  const { featurePolicy } = document as PolicyDocument;
  return featurePolicy ? featurePolicy.allowsFeature(feature) : feature === "publickey-credentials-get";
}

/** Whether the browser keeps cookies for this page. In a frame of another site it may keep none. */
export function keepsCookies(): boolean {
  const attributes = "Path=/; Secure; SameSite=None; Partitioned";
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `stile-kept=1; ${attributes}; Max-Age=10`;
    const kept = /(?:^|; )stile-kept=1(?:;|$)/.test(document.cookie);
    // biome-ignore lint/suspicious/noDocumentCookie: as above
    document.cookie = `stile-kept=; ${attributes}; Max-Age=0`;
    return kept;
  } catch {
    return false;
  }
}
