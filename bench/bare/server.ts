import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import {
  answerAuthenticator,
  askAuthenticator,
  confirmTransaction,
  openTransaction,
} from "./applications.ts";
import { sealChallenge } from "./proofs.ts";
import { returnFromProvider } from "./provider.ts";
import type { Bare, BareSettings } from "./settings.ts";
import { openPools } from "./statement.ts";
import { others } from "./statements.ts";
import { beginFlow, requestOptions, startFlow, stepFlow } from "./steps.ts";

/**
 * The hand-made server of the benchmark, in a process of its own: bare `node:http` with as few statements as possible,
 * on the tables of Stile. It takes the requests that Stile takes, for the tasks of the benchmark alone, and does what
 * makes them safe: claims, counters, conditional takes, durable writes, an audit entry. It sends its port to its parent
 * once it has its settings.
 */

async function bodyOf(request: IncomingMessage) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

/** What is sent: JSON, a page, or a redirect. */
interface Sent {
  json?: object;
  page?: Buffer;
  location?: string;
  cookie?: string;
}

async function answer(bare: Bare, request: IncomingMessage): Promise<Sent> {
  const { url = "/", method, headers } = request;
  if (url === "/health/alive") return { json: { alive: true } };
  if (url === "/sessions/validate") {
    const found = await bare.query(others.session, { tenant: bare.tenantId, session: bare.sessionId });
    return { json: { is_valid: found.length === 1 } };
  }
  const [, type = "", action, flowId = ""] =
    /^\/(login|registration)(?:\?action=(\w+)%40(.+))?$/.exec(url) ?? [];
  if (type !== "") {
    const sender = {
      source: String(headers["x-forwarded-for"] ?? request.socket.remoteAddress),
      userAgent: headers["user-agent"] ?? "",
    };
    const body = await bodyOf(request);
    const shown = action
      ? await stepFlow(bare, { type, action, flowId }, body, sender)
      : await (body.action ? beginFlow(bare, type, body, sender) : startFlow(bare, type));
    return { json: shown.body, ...(shown.cookie ? { cookie: shown.cookie } : {}) };
  }
  if (url === "/login/request_options") return { json: requestOptions(bare, sealChallenge()) };
  if (url === "/") {
    const page = bare.page
      .replaceAll("{{random}}", randomBytes(16).toString("base64url"))
      .replace("{{challenge}}", sealChallenge());
    return { page: gzipSync(page) };
  }
  if (url.startsWith("/thirdparty/callback")) {
    const answered = new URLSearchParams(url.slice(url.indexOf("?")));
    return { location: await returnFromProvider(bare, answered, headers.cookie ?? "") };
  }
  const body = await bodyOf(request);
  const key = String(headers.apikey ?? headers.authorization?.replace(/^secret /, ""));
  if (url.endsWith("/transaction/initialize")) return { json: await openTransaction(bare, key, body) };
  if (url.endsWith("/transaction/finalize")) return { json: await confirmTransaction(bare, key, body) };
  if (method === "POST") return { json: await askAuthenticator(bare, key, body) };
  return { json: await answerAuthenticator(bare, key, url.slice(url.lastIndexOf("/") + 1), body) };
}

async function start(settings: BareSettings): Promise<void> {
  const { algorithm } = settings;
  const { privateKey } =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : algorithm === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("ed25519");
  const bare: Bare = { ...settings, query: openPools(settings.databaseUrl), signingKey: privateKey };
  await bare.query(others.jobs, {});

  const server = createServer((request, response) => {
    answer(bare, request).then(
      ({ json, page, location, cookie }) => {
        const text = page ?? JSON.stringify(json ?? {});
        response
          .writeHead(location ? 303 : 200, {
            "content-type": page ? "text/html" : "application/json",
            "content-length": Buffer.byteLength(text),
            ...(page ? { "content-encoding": "gzip" } : {}),
            ...(location ? { location } : {}),
            ...(cookie ? { "set-cookie": cookie } : {}),
          })
          .end(text);
      },
      (error: unknown) => {
        const { stack = "" } = error as Error;
        response.writeHead(500, { "content-length": Buffer.byteLength(stack) }).end(stack);
      },
    );
  });
  // Connections that are prepared wait for their first request.
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

process.once("message", (settings: BareSettings) => void start(settings));
process.on("disconnect", () => process.exit(0));
