import type { Config } from "../../config/schema.ts";

/** The requested page of a list. */
export interface Page {
  /** Starts at 1. */
  number: number;
  /** Items per page. */
  size: number;
}

/**
 * Returns the headers of a paged list: `X-Total-Count`, and first, last, next and previous page in `Link` (RFC 8288).
 *
 * @param requested URL of the request
 * @param total items on all pages
 */
export function pageHeaders(
  { base_url }: Pick<Config, "base_url">,
  requested: URL,
  { number, size }: Page,
  total: number,
): Record<string, string> {
  const last = Math.max(1, Math.ceil(total / size));
  const linked = (rel: string, page: number) => {
    const url = new URL(requested.pathname + requested.search, base_url);
    url.searchParams.set("page", String(page));
    url.searchParams.set("per_page", String(size));
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [
    linked("first", 1),
    linked("last", last),
    ...(number < last ? [linked("next", number + 1)] : []),
    ...(number > 1 ? [linked("prev", Math.min(number - 1, last))] : []),
  ];
  return { "X-Total-Count": String(total), Link: links.join(", ") };
}

/**
 * Returns the headers of a page after a position: `X-Total-Count`, and the first and the next page in `Link` (RFC 8288).
 *
 * @param requested URL of the request
 * @param next value of `after` for the next page; null if this page is the last one
 */
export function cursorHeaders(
  { base_url }: Pick<Config, "base_url">,
  requested: URL,
  next: string | null,
  total: number,
): Record<string, string> {
  const linked = (rel: string, after: string) => {
    const url = new URL(requested.pathname + requested.search, base_url);
    url.searchParams.set("after", after);
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [linked("first", ""), ...(next === null ? [] : [linked("next", next)])];
  return { "X-Total-Count": String(total), Link: links.join(", ") };
}
