import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

/** A sample application whose visitors sign in at Stile, written from the documentation alone. */
export interface Application {
  url: string;
  close(): Promise<void>;
}

interface Setup {
  port: number;
  /** Its host name; `localhost` shares Stile's cookie, `127.0.0.1` does not. */
  host: "localhost" | "127.0.0.1";
  stile: string;
}

/** Visitors that were redirected to Stile and have not returned, by `state`. */
type Pending = Map<string, { verifier: string }>;

/** Starts an application that signs its visitors in by the session cookie, or else by one-time code. */
export async function startApplication({ port, host, stile }: Setup): Promise<Application> {
  const url = `http://${host}:${port}`;
  const pending: Pending = new Map();
  const keys = createRemoteJWKSet(new URL(`${stile}/.well-known/jwks.json`));

  async function whoIs(token: string): Promise<string | null> {
    const { payload } = await jwtVerify(token, keys, { audience: new URL(stile).hostname });
    // The signature is not enough: the session may have been ended since.
    const answer = await fetch(`${stile}/sessions/validate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session_token: token }),
    });
    const { is_valid, claims } = (await answer.json()) as {
      is_valid: boolean;
      claims?: { session_id?: string };
    };
    return is_valid && claims?.session_id === payload.session_id ? String(payload.sub) : null;
  }

  async function welcome(request: IncomingMessage): Promise<Page> {
    const token = /(?:^|; )service=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
    const user = token && (await whoIs(token).catch(() => null));
    if (user) return { html: `<h1>Welcome, ${user}</h1>` };
    return { to: `${stile}/login?redirect_to=${encodeURIComponent(`${url}/`)}` };
  }

  function signIn(): Page {
    const verifier = randomBytes(32).toString("base64url");
    const state = randomBytes(16).toString("hex");
    pending.set(state, { verifier });
    const query = new URLSearchParams({
      redirect_to: `${url}/callback`,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
    });
    return { to: `${stile}/login?${query}` };
  }

  async function callback(query: URLSearchParams): Promise<Page> {
    const waiting = pending.get(query.get("state") ?? "");
    if (!waiting) return { html: "<h1>No sign-in was started here</h1>" };
    const redeem = () =>
      fetch(`${stile}/token`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          code: query.get("code"),
          code_verifier: waiting.verifier,
          redirect_to: `${url}/callback`,
        }),
      });
    const answer = await redeem();
    if (!answer.ok) return { html: `<h1>Refused: ${answer.status}</h1>` };
    const { session_token } = (await answer.json()) as { session_token: string };
    const again = await redeem();
    return { html: `<h1>Welcome, ${await whoIs(session_token)}</h1><p>A second time: ${again.status}</p>` };
  }

  const server = createServer(async (request, response) => {
    const asked = new URL(request.url ?? "/", url);
    if (asked.pathname === "/") answer(response, await welcome(request));
    else if (asked.pathname === "/sign-in") answer(response, signIn());
    else if (asked.pathname === "/callback") answer(response, await callback(asked.searchParams));
    else answer(response, { html: "" });
  });
  await new Promise<void>((resolve) => server.listen(port, resolve));
  return {
    url,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

type Page = { html: string } | { to: string };

function answer(response: ServerResponse, page: Page): void {
  if ("to" in page) response.writeHead(303, { location: page.to }).end();
  else
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!doctype html><title>App</title>${page.html}`);
}
