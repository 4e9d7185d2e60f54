import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** Answers the addresses of pages. */
export type Pages = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Makes Next answer the pages of the build in `root`. Next is loaded when it is first needed, since it takes longer
 * than the whole rest of the start; `load` does so before that.
 *
 * @param root the folder that `.next` lies in
 */
export function createPages(root: string): { answer: Pages; load(): Promise<void> } {
  let loading: Promise<Pages> | undefined;

  async function load(): Promise<Pages> {
    const { default: next } = await import("next");
    // Next listens for upgrades on the server it is given, or else on the one that a request came by, and leaves them
    // without an answer. This one never hears of any, and ours takes them for what they are without an upgrade.
    const app = next({ dev: false, dir: root, httpServer: createServer() });
    await app.prepare();
    return app.getRequestHandler();
  }

  const loaded = () => {
    loading ??= load().catch((error: unknown) => {
      // The next request tries again.
      loading = undefined;
      throw error;
    });
    return loading;
  };

  return {
    async answer(incoming, outgoing) {
      const handler = await loaded();
      await handler(incoming, outgoing);
    },
    async load() {
      await loaded();
    },
  };
}
