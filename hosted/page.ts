import type { Config } from "#server/config/schema";
import type { Tenant } from "#server/config/tenant";
import type { PageVisit } from "#server/http/page/page-state";
import type { Runtime } from "#server/runtime";
import type { PageLanguage } from "#words/language-tags";
import type { LanguageWords } from "#words/language-words";
import type { PageContent } from "./drawing/parts.tsx";
import type { Embedding } from "./page-headers.ts";

/** What a page is made for. */
export interface PageRequest {
  runtime: Runtime;
  tenant: Tenant;
  /** Path of the page within its tenant, for instance `/account`. */
  path: string;
  query: URLSearchParams;
  /** The `Cookie` header of the request. */
  cookies: string | null;
  /** The language that the visitor chose, else the one that the browser prefers, and its words. */
  language: PageLanguage;
  words: LanguageWords;
  visit: PageVisit;
}

/** A page as data; `answer.ts` makes the document of it. */
export interface Page {
  status: 200 | 404;
  title: string;
  /** The tenant, whose theme the page has. */
  config: Config;
  content: PageContent;
  embedding: Embedding;
  /** The colour scheme that a frame asks for; absent: that of the theme. */
  scheme?: "light" | "dark";
  /** Absent for the referrer policy of all pages. */
  referrer?: "no-referrer";
  /** `Set-Cookie` values, beside that of the language. */
  cookies?: string[];
}

/** Leads to another page; the address is within the tenant, for instance `/account`. */
export interface Redirection {
  location: string;
}
