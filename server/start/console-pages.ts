import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname } from "node:path";
import type { Configured } from "../config/schema.ts";
import { firstOperatorLink } from "../console/invitations.ts";
import { CONSOLE_PATH, servesConsole } from "../console/place.ts";
import { currentTime } from "../database/current-time.ts";
import { projectPath } from "../lib/project-path.ts";
import type { Rates } from "../limits/rate-limits.ts";

/** Answers a request of the console's pages on the messages of Node. */
export type NodeAnswer = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Answers requests for pages of the console, and for what they load; null for any other request. `source`: see `sourceOf`. */
export type ConsolePages = (incoming: IncomingMessage, source: string) => NodeAnswer | null;

/** What the pages load: scripts and styles, whose names contain a digest. */
const STATIC_PATH = "/_next/static/";

/**
 * Hands the pages of the console to Next, which is loaded with the first such request: until the console is opened it takes
 * neither time nor memory.
 *
 * Displaying a page takes much time, so that a source displays so many.
 *
 * @param runtime `config`: of the server
 */
export function consolePages({ config, rates }: Configured & Rates): ConsolePages {
  let next: Promise<NodeAnswer | null> | undefined;
  return (incoming, source) => {
    const [path = ""] = incoming.url?.split("?", 1) ?? [];
    const isOfConsole =
      path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`) || path.startsWith(STATIC_PATH);
    if (!isOfConsole || !servesConsole(config, incoming.headers.host ?? null)) return null;
    return async (request, response) => {
      const wait = path.startsWith(STATIC_PATH) ? null : await secondsToWait(rates, source);
      if (wait !== null) {
        response.writeHead(429, { "Content-Type": "text/plain; charset=utf-8", "Retry-After": String(wait) });
        response.end("Too many pages. Retry later.\n");
        return;
      }
      next ??= loadNext().catch((error: unknown) => {
        next = undefined;
        throw error;
      });
      const answer = await next;
      if (answer) return answer(request, response);
      response.writeHead(503, { "Content-Type": "text/plain; charset=utf-8" });
      response.end("The console is not built: run `npm run build`.\n");
    };
  };
}

/** @returns null if the source may display a page */
async function secondsToWait(rates: Rates["rates"], source: string): Promise<number | null> {
  const rate = await rates.consumeShared("page", source);
  return rate.ok ? null : rate.retryAfterSeconds;
}

/** @returns null if there is no build for Next */
async function loadNext(): Promise<NodeAnswer | null> {
  const build = projectPath(".next", "BUILD_ID");
  if (build === null) return null;
  const dir = dirname(dirname(build));
  const { default: createNext } = await import("next");
  const application = createNext({ dev: false, dir });
  await application.prepare();
  return application.getRequestHandler();
}

/** The link for the first operator; null if there is one, or the pages are not built. */
export async function consoleLink(runtime: Parameters<typeof firstOperatorLink>[0]): Promise<string | null> {
  if (projectPath(".next", "BUILD_ID") === null) return null;
  return firstOperatorLink(runtime, await currentTime(runtime));
}
