import { readFileSync } from "node:fs";
import { z } from "zod";
import { projectPath } from "../../lib/project-path.ts";
import { sha256 } from "../../lib/sha256.ts";
import { withinTenant } from "../request/tenant-path.ts";
import { type Address, address } from "../table/address.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";
import { type Examples, type OpenApiDocument, openApiDocument } from "./document.ts";
import { openApiPage } from "./page.ts";

/** Where the base address of the tenant is written. */
const NO_SERVERS = '"servers":[]';

/**
 * The addresses that show the interface itself.
 *
 * @param all every address; called when the document is first asked for
 */
export function openApiAddresses(all: () => readonly Address[]): Address[] {
  let known: { document: OpenApiDocument; text: string } | undefined;
  const documentOf = () => {
    if (known) return known;
    const document = openApiDocument(all(), {
      version: (readData("package.json") as { version: string }).version,
      servers: [],
      examples: readData("server", "http", "openapi", "examples.json") as Examples,
    });
    known = { document, text: JSON.stringify(document) };
    return known;
  };

  const handler: Handler = ({ tenant, request }) => {
    const servers = JSON.stringify([{ url: tenant.config.base_url }]);
    const body = documentOf().text.replace(NO_SERVERS, () => `"servers":${servers}`);
    const headers = { ETag: `"${sha256(body).toString("base64url")}"`, "Cache-Control": "public, no-cache" };
    if (request.headers.get("if-none-match")?.includes(headers.ETag)) return { status: 304, headers };
    return { status: 200, body, headers: { ...headers, "Content-Type": "application/json; charset=utf-8" } };
  };
  const pageHandler: Handler = ({ tenant: { config } }) =>
    openApiPage(documentOf().document, {
      base: config.base_url,
      href: withinTenant(config, "/openapi.json"),
    });

  return [
    described(address("GET", "/openapi.json", handler, "plain", "public"), {
      id: "getOpenApi",
      summary: "Get this document",
      tag: "service",
      headers: z.object({ "If-None-Match": z.string().optional() }),
      answers: {
        200: { schema: z.looseObject({ openapi: z.string() }), headers: { ETag: "Of the document." } },
        304: "It has not changed.",
      },
    }),
    described(address("GET", "/docs/api", pageHandler, "plain", "public"), {
      id: "showOpenApi",
      summary: "Show this document as a page",
      tag: "service",
      answers: { 200: { schema: z.string(), mediaType: "text/html" } },
    }),
  ];
}

/** Reads a data file of the project; name it in `outputFileTracingIncludes` as well. */
function readData(...segments: string[]): unknown {
  const file = projectPath(...segments);
  if (file === null) throw new Error(`The file ${segments.join("/")} is missing.`);
  return JSON.parse(readFileSync(file, "utf8"));
}
