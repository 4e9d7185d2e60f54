/**
 * Handling of the token that opens the page. It is removed from the address at once, so it stays neither in the
 * history nor in a bookmark nor on the screen. It is kept in the tab's history state, so that the page can be
 * reloaded.
 */

const NAME = "stileConfirmation";

/** Moves the token from the address into the history state. */
export function hideToken(token: string): void {
  history.replaceState({ ...history.state, [NAME]: token }, "", addressWithout());
}

/** Removes the token from the address and from the history state. */
export function forgetToken(): void {
  const { [NAME]: _, ...state } = (history.state ?? {}) as Record<string, unknown>;
  history.replaceState(state, "", addressWithout());
}

function addressWithout(): URL {
  const url = new URL(location.href);
  url.search = "";
  return url;
}

/** The address with the token, for a page that was reloaded without it; null when the tab holds no token. */
export function addressWithToken(): string | null {
  const token = (history.state as Record<string, unknown> | null)?.[NAME];
  if (typeof token !== "string" || new URLSearchParams(location.search).has("token")) return null;
  const url = new URL(location.href);
  url.searchParams.set("token", token);
  return url.href;
}
