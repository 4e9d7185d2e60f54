/**
 * The token that opens the page comes in its address, and leaves it at once: neither the history, nor a bookmark, nor
 * whoever looks over a shoulder has it. The tab alone remembers it, so that the page can be loaded again.
 */

const NAME = "stileConfirmation";

/** Takes the token out of the address. */
export function hideToken(token: string): void {
  history.replaceState({ ...history.state, [NAME]: token }, "", addressWithout());
}

/** Nobody needs it any more, neither here nor in the address. */
export function forgetToken(): void {
  const { [NAME]: _, ...state } = (history.state ?? {}) as Record<string, unknown>;
  history.replaceState(state, "", addressWithout());
}

function addressWithout(): URL {
  const url = new URL(location.href);
  url.search = "";
  return url;
}

/** The address to load where this page was loaded again, and lacks its token; null when the tab knows none. */
export function addressWithToken(): string | null {
  const token = (history.state as Record<string, unknown> | null)?.[NAME];
  if (typeof token !== "string" || new URLSearchParams(location.search).has("token")) return null;
  const url = new URL(location.href);
  url.searchParams.set("token", token);
  return url.href;
}
