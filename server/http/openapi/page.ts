import { type EventName, events } from "../../events/events.ts";
import { sha256 } from "../../lib/sha256.ts";
import { type Html, html, trusted } from "../../mail/html.ts";
import { stileColorRules } from "../../theme/theme-css.ts";
import type { Reply } from "../answer/reply.ts";
import { type DescribedOperation, eventSchemas, type OpenApiDocument } from "./document.ts";
import type { JsonSchema } from "./schemas.ts";

/** The document as a page. It has no script and loads nothing, so every policy for content allows it. */

const styles = `
${stileColorRules(["ground", "surface", "ink", "ink-soft", "line", "accent"])}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 1rem/1.55 -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif; color: var(--stile-ink); background: var(--stile-ground); }
a { color: var(--stile-accent); }
:focus-visible { outline: 2px solid var(--stile-accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; inset-inline-start: -100vw; }
.skip:focus { inset-inline-start: 1rem; inset-block-start: 1rem; padding: 0.5rem 1rem; background: var(--stile-surface); }
.frame { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
nav ul { display: flex; flex-wrap: wrap; column-gap: 1.25rem; }
@media (min-width: 60rem) {
  nav ul { display: block; }
  .frame { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 3rem; padding: 2.5rem 2rem 6rem; }
  nav { position: sticky; inset-block-start: 2.5rem; align-self: start; max-height: calc(100vh - 5rem); overflow-y: auto; }
}
nav ul { list-style: none; margin: 0 0 1.5rem; padding: 0; }
nav li a { display: block; padding: 0.3rem 0; text-decoration: none; }
nav li a:hover { text-decoration: underline; }
h1 { margin: 0 0 0.5rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3rem 0 0.25rem; font-size: 1.375rem; line-height: 1.3; }
h3 { margin: 1.25rem 0 0.375rem; font-size: 0.9375rem; }
p { margin: 0 0 0.75rem; max-width: 46rem; }
.soft { color: var(--stile-ink-soft); }
details.operation { margin: 0.5rem 0; border: 1px solid var(--stile-line); border-radius: 0.75rem; background: var(--stile-surface); }
details.operation > summary { display: flex; flex-wrap: wrap; gap: 0.125rem 0.75rem; align-items: baseline; padding: 0.75rem 1rem; cursor: pointer; list-style-position: inside; }
details.operation > summary::marker { content: ""; }
details.operation > .body { scroll-margin-top: 7rem; padding: 0 1rem 1rem; border-block-start: 1px solid var(--stile-line); padding-block-start: 0.75rem; }
.method { min-width: 4rem; font: 650 0.8125rem/1.5 ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; color: var(--stile-accent); }
code, pre { font: 0.875rem/1.5 ui-monospace, "Cascadia Code", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
summary .what { flex: 1 1 14rem; color: var(--stile-ink-soft); }
pre { margin: 0.25rem 0 0.75rem; padding: 0.75rem 1rem; max-height: 28rem; overflow: auto; border: 1px solid var(--stile-line); border-radius: 0.5rem; background: var(--stile-ground); overflow-wrap: normal; }
.members { margin: 0.25rem 0 0.75rem; padding: 0; list-style: none; }
.members > li { padding: 0.3rem 0; border-block-end: 1px solid var(--stile-line); }
.members .members { margin: 0.25rem 0 0; margin-inline-start: 1rem; }
.inner > summary { cursor: pointer; color: var(--stile-accent); }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${sha256(styles).toString("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Renders the document. @param href of the document itself */
export function openApiPage(
  document: OpenApiDocument,
  { href, base }: { href: string; base: string },
): Reply {
  const { info, tags, paths, components } = document;
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  );
  const sections = tags
    .map(({ name, description }) => ({
      name,
      description,
      id: name.replaceAll(/\W+/g, "-"),
      rows: rows.filter(({ described }) => described.tags[0] === name),
    }))
    .filter((section) => section.rows.length > 0);
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version} · interface</title>
<style>${trusted(styles)}</style>
</head>
<body>
<a class="skip" href="#operations">To the operations</a>
<div class="frame">
<nav aria-label="Groups">
<ul>
${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
<li><a href="#events">events</a></li>
<li><a href="#schemas">schemas</a></li>
</ul>
</nav>
<main id="operations">
<h1>${info.title} ${info.version}</h1>
<p>${prose(info.description)}</p>
<p class="soft">Base address <code>${base}</code>. The same for programs: <a href="${href}">openapi.json</a>.</p>
${sections.map(
  (section) => html`<section aria-labelledby="${section.id}">
<h2 id="${section.id}">${section.name}</h2>
<p class="soft">${prose(section.description)}</p>
${section.rows.map(({ path, method, described }) => operationOf(path, method, described, components.securitySchemes, base))}
</section>`,
)}
<section aria-labelledby="events">
<h2 id="events">events</h2>
<p class="soft">A webhook receives <code>{"token", "event"}</code>; the token is a JWT with the data.</p>
${Object.entries(eventSchemas(document)).map(
  ([name, data]) => html`<details class="operation">
<summary><code>${name}</code> <span class="what">${prose(events[name as EventName].when)}</span></summary>
<div class="body">${schemaOf(data)}</div>
</details>`,
)}
</section>
<section aria-labelledby="schemas">
<h2 id="schemas">schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<details class="operation">
<summary><code>${name}</code> <span class="what">${prose(schema.description)}</span></summary>
<div class="body" id="schema-${name}">${schemaOf(schema)}</div>
</details>`,
)}
</section>
</main>
</div>
</body>
</html>
`;
  return {
    status: 200,
    body: markup,
    headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy },
  };
}

function operationOf(
  path: string,
  method: string,
  described: DescribedOperation,
  securitySchemes: Record<string, { description: string }>,
  base: string,
): Html {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = described;
  const schemes = security.flatMap((scheme) => Object.keys(scheme));
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return html`<details class="operation">
<summary><span class="method">${method}</span> <code>${path}</code> <span class="what">${summary}</span></summary>
<div class="body" id="${operationId}">
${description ? html`<p>${prose(description)}</p>` : []}
<p class="soft"><code>${operationId}</code>${
    schemes.length > 0
      ? html` · needs ${security.some((scheme) => Object.keys(scheme).length === 0) ? "none, or " : ""}${schemes.map(
          (scheme, index) =>
            html`${index > 0 ? " Or: " : ""}${prose(securitySchemes[scheme]?.description ?? scheme)}`,
        )}`
      : []
  }</p>
${
  parameters.length > 0
    ? html`<h3>Parameters</h3><ul class="members">${parameters.map(
        (parameter) =>
          html`<li><code>${parameter.name}</code> <span class="soft">${parameter.in}, ${typeName(
            parameter.schema,
          )}${parameter.required ? "" : ", optional"}</span> ${prose(parameter.description)}</li>`,
      )}</ul>`
    : []
}
${body ? html`<h3>Body <span class="soft">${bodyType ?? ""}</span></h3>${schemaOf(body.schema)}` : []}
<h3>Example</h3>
<pre tabindex="0">${curlOf(path, method, described, base)}</pre>
<h3>Answers</h3>
${Object.entries(responses)
  .filter(([status]) => status !== "default")
  .map(([status, { description: says, content = {}, headers = {} }]) => {
    const [media] = Object.values(content);
    return html`<p><code>${status}</code> ${prose(says)}</p>
${Object.entries(headers).map(([name, header]) => html`<p class="soft"><code>${name}</code> ${prose(header.description)}</p>`)}
${media && Number(status) < 400 ? schemaOf(media.schema) : []}
${
  media?.example === undefined
    ? []
    : html`<details class="inner"><summary>Example of ${status}</summary><pre tabindex="0">${JSON.stringify(
        media.example,
        null,
        2,
      )}</pre></details>`
}`;
  })}
</div>
</details>`;
}

/** The call with curl. */
function curlOf(
  path: string,
  method: string,
  { security, requestBody }: DescribedOperation,
  base: string,
): string {
  const [scheme] = security.flatMap((one) => Object.keys(one));
  const header: Record<string, string> = {
    adminKey: "Authorization: Bearer stile_…",
    passkeysKey: "apiKey: stile_…",
    authenticatorKey: "Authorization: secret stile_…",
    sessionToken: "Authorization: Bearer eyJ…",
    jobsSecret: "Authorization: Bearer …",
  };
  const [media] = Object.values(requestBody?.content ?? {});
  const example = media?.example;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${base}${path}'`,
    ...(scheme && header[scheme] ? [`-H '${header[scheme]}'`] : []),
    ...(example === undefined ? [] : [`--json '${JSON.stringify(example).replaceAll("'", "'\\''")}'`]),
  ].join(" \\\n  ");
}

/** Text of the document, whose code is between backticks. */
function prose(value: unknown): Html {
  return html`${text(value)
    .split("`")
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

const nameOf = (ref: unknown) => text(ref).replace("#/components/schemas/", "");

/** The type of a schema in words; a component is named. */
function typeName(schema: JsonSchema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined;
  if (options) return options.map(typeName).join(" | ");
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : text(schema.type) || "any";
  if (type === "array") return `list of ${typeName((schema.items ?? {}) as JsonSchema)}`;
  const bounds = [
    [schema.minLength ?? schema.minimum, "from"],
    [schema.maxLength ?? schema.maximum, "to"],
  ].flatMap(([bound, word]) => (bound === undefined ? [] : [`${word} ${bound}`]));
  return [schema.format ? `${type}, ${schema.format}` : type, ...bounds].join(" ");
}

/** The members of a schema; components are links. */
function schemaOf(schema: JsonSchema): Html {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = (schema.required ?? []) as string[];
  const options = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined;
  if (options)
    return html`<p>One of ${options.map((option, index) => html`${index > 0 ? ", " : ""}${linked(option)}`)}</p>`;
  if (schema.type === "array" && schema.items)
    return html`<p>A list of ${linked(schema.items as JsonSchema)}</p>`;
  if (properties.length === 0) return html`<p>${linked(schema)}</p>`;
  return html`<ul class="members">${properties.map(([name, member]) => {
    const nested = (member.type === "array" ? member.items : member) as JsonSchema | undefined;
    return html`<li><code>${name}</code> <span class="soft">${linked(member)}${
      required.includes(name) ? "" : ", optional"
    }</span> ${prose(member.description)}${nested?.properties ? schemaOf(nested) : []}</li>`;
  })}</ul>`;
}

function linked(schema: JsonSchema): Html {
  const inner = (schema.type === "array" ? schema.items : schema) as JsonSchema;
  if (inner?.$ref) {
    const name = nameOf(inner.$ref);
    return html`${schema.type === "array" ? "list of " : ""}<a href="#schema-${name}">${name}</a>`;
  }
  return html`${typeName(schema)}`;
}
