import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Config } from "#server/config/schema";
import type { Tenant } from "#server/config/tenant";
import { messagePage } from "#server/http/answer/message-page";
import { failedPage } from "#server/http/answer/messages";
import { plainError, type Reply, redirect } from "#server/http/answer/reply";
import { responseEncoding } from "#server/http/answer/response-encoding";
import { isTemporaryFailure, RETRY_AFTER_SECONDS } from "#server/http/answer/temporary-failure";
import { complete, toResponse } from "#server/http/answer/to-response";
import type { PageVisit } from "#server/http/page/page-state";
import { clientOf } from "#server/http/request/client";
import { formatCookie, isSecure } from "#server/http/request/cookies";
import {
  LANGUAGE_COOKIE,
  languageInCookie,
  languageInQuery,
  pageLanguage,
} from "#server/http/request/language";
import { locate } from "#server/http/request/locate";
import { pathPrefix } from "#server/http/request/tenant-path";
import { isUnknownKey } from "#server/keys/unknown-key";
import type { ContentEncoding } from "#server/lib/content-encoding";
import type { Runtime } from "#server/runtime";
import { currentRuntime } from "#server/runtime-slot";
import { wordsOf } from "#words/words-of";
import { builtPages } from "./assets.ts";
import { confirmationPage } from "./confirmation-page.ts";
import { documentOf } from "./document.ts";
import { accountPage, loginPage } from "./flow-page.ts";
import { framePage } from "./frame-page.ts";
import { missingPage } from "./missing-page.ts";
import type { Page, PageRequest, Redirection } from "./page.ts";
import { pageHeaders } from "./page-headers.ts";

/** Every page by its path within a tenant. */
export const pages: Partial<Record<string, (request: PageRequest) => Promise<Page | Redirection>>> = {
  "/": loginPage,
  "/account": accountPage,
  "/confirm": confirmationPage,
  "/embed": framePage,
};

const LANGUAGE_COOKIE_SECONDS = 365 * 24 * 3600;

/** Bytes of the nonce of a page's script. */
const NONCE_BYTES = 18;

/** Higher qualities of Brotli take more time than they save. */
const BROTLI_QUALITY = 5;

/**
 * Answers a request outside the API with a page, or with the page for unknown addresses.
 *
 * @param connection `address`: of the client; `requestId` identifies the request in `X-Request-ID`
 */
export async function answerPage(
  request: Request,
  connection: { address: string; requestId: string },
  runtime: Runtime = currentRuntime(),
): Promise<Response> {
  const { method, headers } = request;
  const { requestId } = connection;
  const url = new URL(request.url);
  let { tenant } = runtime;
  let page: Page | Redirection | null = null;
  const asReply = (reply: Reply) =>
    toResponse(complete(request, reply, { config: tenant.config, requestId, errorShape: "plain" }));
  try {
    const located = await locate(runtime, headers.get("host"), url.pathname);
    tenant = located?.tenant ?? tenant;
    if (method !== "GET" && method !== "HEAD")
      // The rest of the body is not read.
      return asReply(plainError(405, "Method not allowed.", { Allow: "GET, HEAD", Connection: "close" }));
    const makePage = located?.tenant && Object.hasOwn(pages, located.path) ? pages[located.path] : null;
    const visit = { client: clientOf(request, connection, true, tenant), headers };
    const asked = pageRequest(runtime, tenant, located?.path ?? url.pathname, url, visit);
    page = makePage ? await makePage(asked) : missingPage(asked);
    if ("location" in page) return asReply(redirect(307, page.location));
    const nonce = randomBytes(NONCE_BYTES).toString("base64");
    const response = documentResponse(
      request,
      page,
      documentOf(page, await builtPages(), asked.language, nonce),
      { ...pageHeaders(nonce, page.embedding, page.config), "X-Request-ID": requestId },
    );
    for (const cookie of [...languageCookies(tenant, url.searchParams), ...(page.cookies ?? [])])
      response.headers.append("Set-Cookie", cookie);
    return response;
  } catch (error) {
    const temporary = isUnknownKey(error, runtime.log) || isTemporaryFailure(error);
    if (!temporary) runtime.log.error({ err: error, request_id: requestId }, "making a page failed");
    return asReply(failurePage(headers, tenant.config, temporary, page));
  }
}

function pageRequest(
  runtime: Runtime,
  tenant: Tenant,
  path: string,
  { searchParams: query }: URL,
  visit: PageVisit,
): PageRequest {
  const { headers } = visit;
  const cookies = headers.get("cookie");
  const chosen = languageInQuery(query) ?? languageInCookie(cookies);
  const { mode, words } = tenant.config;
  const language = pageLanguage(chosen, headers.get("accept-language"), mode);
  return { runtime, tenant, path, query, cookies, language, words: wordsOf(language, words), visit };
}

/** Keeps the language that the address names. */
function languageCookies({ config }: Tenant, query: URLSearchParams): string[] {
  const language = languageInQuery(query);
  const attributes = { secure: isSecure(config), sameSite: "lax", path: "/" } as const;
  return language === null
    ? []
    : [formatCookie(config, LANGUAGE_COOKIE, language, { ...attributes, maxAge: LANGUAGE_COOKIE_SECONDS })];
}

function documentResponse(
  { method, headers }: Request,
  { status }: Page,
  document: string,
  security: Record<string, string>,
): Response {
  const encoding = responseEncoding(headers);
  const body = encoding === null ? Buffer.from(document) : compressed(document, encoding);
  return new Response(method === "HEAD" ? null : body, {
    status,
    headers: {
      ...security,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(body.length),
      Vary: "Accept-Encoding",
      ...(encoding === null ? {} : { "Content-Encoding": encoding }),
    },
  });
}

/** In this thread: the pool of threads hashes passwords, and pages would wait behind them. */
function compressed(document: string, encoding: ContentEncoding): Buffer<ArrayBuffer> {
  return encoding === "gzip"
    ? gzipSync(document)
    : brotliCompressSync(document, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}

/** @param page what could not be drawn; null if it could not be made */
function failurePage(
  headers: Headers,
  config: Config,
  temporary: boolean,
  page: Page | Redirection | null,
): Reply {
  const content = page && "content" in page ? page.content : null;
  // A state that cannot be drawn would fail until its flow expires.
  const startOver =
    content?.part === "login" ? { flow: content.props.type, action: `${pathPrefix(config)}/step` } : null;
  const retry: Record<string, string> = temporary ? { "Retry-After": String(RETRY_AFTER_SECONDS) } : {};
  return messagePage(temporary ? 503 : 500, headers, config, failedPage(temporary, startOver), retry);
}
