/**
 * Marks the address of a page that should have received a cookie: the browser posted a form without one, as it does on a
 * first visit, and when it keeps none.
 */
const [NAME, VALUE] = ["check", "cookies"] as const;

/** @param address of a page, with or without a query */
export function checkingCookies(address: string): string {
  return `${address}${address.includes("?") ? "&" : "?"}${NAME}=${VALUE}`;
}

/** Whether the address of a page is marked. */
export function checksCookies(query: URLSearchParams): boolean {
  return query.get(NAME) === VALUE;
}

/** @returns the query without the mark */
export function withoutCookieCheck(query: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(query);
  rest.delete(NAME);
  return rest;
}
