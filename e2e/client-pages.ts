import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { freePort } from "../server/testing/free-port.ts";

/** Pages of an application on another origin, which load a library of the published clients. */
export interface ClientPages {
  origin: string;
  close(): Promise<void>;
}

interface Setup {
  /** File that the pages load as `/library.js`, unchanged. */
  library: string;
  /** Document of every other address. */
  html: string;
}

export async function openClientPages({ library, html }: Setup): Promise<ClientPages> {
  const application = createServer((request, response) => {
    const asksForLibrary = request.url === "/library.js";
    response.setHeader("content-type", asksForLibrary ? "text/javascript" : "text/html");
    response.end(asksForLibrary ? readFileSync(library) : html);
  });
  const port = await freePort();
  await new Promise<void>((listening) => application.listen(port, listening));
  return {
    origin: `http://localhost:${port}`,
    async close() {
      application.closeAllConnections();
      await new Promise((closed) => application.close(closed));
    },
  };
}

/** Settings with which a server takes calls and passkeys from the pages. */
export function settingsFor(origin: string): Record<string, string> {
  return { STILE_CORS_ALLOW_ORIGINS: origin, STILE_WEBAUTHN_RELYING_PARTY_ORIGINS: origin };
}
