import type { Config } from "../../config/schema.ts";
import type { Reply } from "../reply.ts";
import { invalidRequestReply } from "./request.ts";

/** The requested page of a list. */
export interface Page {
  /** Starts at 1. */
  number: number;
  /** Items per page. */
  size: number;
}

const MAX_PAGE_SIZE = 100;
const MAX_PAGE_NUMBER = 1_000_000;

/** Reads `page` (default 1) and `per_page` (default 20) of a query. */
export function readPage(query: URLSearchParams): { ok: true; page: Page } | { ok: false; reply: Reply } {
  const number = readNumber(query.get("page"), 1, MAX_PAGE_NUMBER);
  if (number === null)
    return { ok: false, reply: invalidRequestReply(`page must be a number from 1 to ${MAX_PAGE_NUMBER}`) };
  const size = readNumber(query.get("per_page"), 20, MAX_PAGE_SIZE);
  if (size === null)
    return { ok: false, reply: invalidRequestReply(`per_page must be a number from 1 to ${MAX_PAGE_SIZE}`) };
  return { ok: true, page: { number, size } };
}

function readNumber(text: string | null, fallback: number, largest: number): number | null {
  if (text === null || text === "") return fallback;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= largest ? number : null;
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
