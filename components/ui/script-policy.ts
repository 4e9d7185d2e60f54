interface TrustedTypes {
  defaultPolicy: unknown;
  createPolicy(name: string, rules: { createScriptURL(url: string): string | null }): unknown;
}

/**
 * Lets the page load its own lazy scripts under Trusted Types (W3C, 4.1.5, default policy): the bundler assigns their
 * addresses as strings. Every other address, and every string that would become script or markup, stays blocked.
 */
export function allowOwnScripts(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (!trustedTypes || trustedTypes.defaultPolicy) return;
  trustedTypes.createPolicy("default", {
    createScriptURL: (url) => {
      const { origin, pathname } = new URL(url, location.href);
      return origin === location.origin && pathname.startsWith("/_next/static/") ? url : null;
    },
  });
}
