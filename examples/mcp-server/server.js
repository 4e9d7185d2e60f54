import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createStile, StileError } from "@stile-auth/server";
import express from "express";
import { z } from "zod";

const stile = createStile({ baseUrl: process.env.STILE_URL ?? "http://localhost:3000" });
const { origin } = new URL(process.env.APP_URL ?? "http://localhost:4000");

/** What the tools need; Stile knows them by `openid.resources`. */
const scopes = { read: "notes:read", write: "notes:write" };
const notes = stile.protectResource({
  resource: `${origin}/mcp`,
  scopes: Object.values(scopes),
  name: "Notes",
});

/** The notes of each user. A table of your database in production. */
const stored = new Map();

/** The scope that each tool needs. */
const scopesOfTools = { list_notes: scopes.read, add_note: scopes.write };

/** The server of one request: its tools act as the user who has allowed the client. */
function serverFor({ userId }) {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const ofUser = () => stored.get(userId) ?? [];
  const text = (content) => ({ content: [{ type: "text", text: content }] });
  server.registerTool("list_notes", { description: "Lists the notes of the user." }, () =>
    text(ofUser().join("\n") || "There are none."),
  );
  server.registerTool(
    "add_note",
    { description: "Adds a note.", inputSchema: { note: z.string().min(1).max(200) } },
    ({ note }) => {
      stored.set(userId, [...ofUser(), note].slice(-100));
      return text("Added.");
    },
  );
  return server;
}

const app = express();
app.use(express.json({ limit: "64kb" }));

// From here clients learn where to ask for tokens (RFC 9728).
app.get(new URL(notes.metadataUrl).pathname, (_request, response) => response.json(notes.metadata));

app.post("/mcp", async (request, response) => {
  const verified = await notes.verify(request, { scopes: scopesOf(request.body) });
  if (!verified.ok) return response.status(verified.status).set(verified.headers).json(verified.body);
  // A client that acts for itself has no notes.
  if (verified.access.userId === null) return response.status(403).json({ error: "no user" });
  const server = serverFor(verified.access);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on("close", () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});

// Nothing is kept between requests, so there is no stream to open and no session to end.
app.all("/mcp", (_request, response) => response.status(405).set("allow", "POST").end());

/** The scopes that the calls in a message need. */
function scopesOf(body) {
  const names = [body].flat().flatMap((call) => (call?.method === "tools/call" ? [call.params?.name] : []));
  return names.flatMap((name) => (Object.hasOwn(scopesOfTools, name) ? [scopesOfTools[name]] : []));
}

// Without the keys of Stile no token is judged: 503, not 401.
app.use((error, _request, response, next) => {
  if (!(error instanceof StileError)) return next(error);
  response.status(503).json({ error: "unavailable" });
});

app.listen(process.env.PORT ?? 4000, "127.0.0.1", () => console.log(notes.metadata.resource));
