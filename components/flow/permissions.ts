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

/** Attributes of a cookie that the browser keeps there if it keeps any. */
const attributesIn = {
  page: "Path=/; SameSite=Strict",
  /** Of another site. */
  frame: "Path=/; Secure; SameSite=None; Partitioned",
};

/** Whether the browser keeps cookies here, by setting one. */
export function keepsCookies(place: keyof typeof attributesIn): boolean {
  const attributes = attributesIn[place];
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
