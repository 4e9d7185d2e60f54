import type { Reply } from "../answer/reply.ts";
import type { Page } from "../table/paging.ts";
import { invalidRequestReply } from "./request.ts";

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
  if (text === null) return fallback;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= largest ? number : null;
}
