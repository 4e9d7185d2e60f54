import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** Answers requests for pages. */
export type Pages = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Serves the pages of the build in `root` with Next. Next is loaded for the first request, or earlier by `load`: it
 * takes longer than the rest of the start.
 *
 * @param root the folder that contains `.next`
 */
export function createPages(root: string): { answer: Pages; load(): Promise<void> } {
  let loading: Promise<Pages> | undefined;

  async function load(): Promise<Pages> {
    const { default: next } = await import("next");
    // Next listens for upgrade requests on this server, or otherwise on the server of a request, and never answers
    // them. This server receives none, and our listener treats an upgrade request like any other request.
    const app = next({ dev: false, dir: root, httpServer: createServer() });
    await app.prepare();
    return app.getRequestHandler();
  }

  const handlerOnce = () => {
    loading ??= load().catch((error: unknown) => {
      // The next request retries.
      loading = undefined;
      throw error;
    });
    return loading;
  };

  return {
    async answer(incoming, outgoing) {
      const handler = await handlerOnce();
      await handler(incoming, outgoing);
    },
    async load() {
      await handlerOnce();
    },
  };
}
