import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { states } from "../../flow/states/index.ts";
import { addresses } from "../addresses.ts";
import { openApiDocument } from "./document.ts";
import type { JsonSchema } from "./schemas.ts";

const require = createRequire(import.meta.url);

const document = openApiDocument(addresses, {
  version: "1.0.0",
  servers: ["https://login.shop.test"],
  examples: {},
});
const schemas = (document.components as { schemas: Record<string, JsonSchema> }).schemas;

/** Addresses that are no part of the interface, with the reason. */
const undeclared: Record<string, string> = {
  "GET /dev/mailbox": "served in development alone",
  "GET /dev/authenticator": "served in development alone",
  "POST /dev/authenticator": "served in development alone",
  "GET /dev/mail": "served in development alone",
  "GET /dev/theme": "served in development alone",
  "GET /dev/theme/style.css": "served in development alone",
  "GET /dev/theme/settings.json": "served in development alone",
};

describe("the document of the interface", () => {
  test("has every address, except those listed here with a reason", () => {
    const missing = addresses
      .filter(({ operation }) => !operation)
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !Object.hasOwn(undeclared, name));
    expect(missing).toEqual([]);
  });

  test("gives each operation an id of its own", () => {
    const ids = addresses.flatMap(({ operation }) => operation?.id ?? []);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  test("has each state of the machine with the actions that it declares", () => {
    const shown = Object.values(schemas).flatMap(({ properties = {} }) => {
      const { name, actions } = properties as Record<string, JsonSchema>;
      const state = schemas[String(name?.$ref).replace("#/components/schemas/", "")]?.const;
      return state && actions ? [[state, Object.keys(actions.properties as object)]] : [];
    });
    const declared = Object.entries(states).map(([name, { actions }]) => [
      name,
      Object.entries(actions).flatMap(([action, { aliases }]) => [action, ...aliases]),
    ]);
    expect(Object.fromEntries(shown)).toEqual({ ...Object.fromEntries(declared), error: [] });
  });

  test("A92 declares no body of the administration interface that takes unknown members", () => {
    const loose = addresses.flatMap((row) => {
      const { path, operation } = row;
      if (operation?.security !== "admin" || !operation.body) return [];
      const { paths } = openApiDocument([{ ...row, method: "POST" }], {
        version: "1",
        servers: [],
        examples: {},
      });
      return looseObjects(paths[path]?.post?.requestBody).map((at) => `${operation.id}${at}`);
    });
    expect(loose).toEqual([]);
  });

  test("has schemas that a validator of another author compiles", () => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    ajv.addSchema({ $id: "document", ...document });
    for (const name of Object.keys(schemas))
      expect(ajv.getSchema(`document#/components/schemas/${name}`)).toBeTypeOf("function");
  });

  test("is accepted by the linter of another author without a warning", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stile-openapi-"));
    try {
      const file = join(folder, "openapi.json");
      writeFileSync(file, JSON.stringify(document));
      const linter = require.resolve("@redocly/cli/bin/cli.js");
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        [linter, "lint", file, "--format=json"],
        {
          cwd: folder,
          env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        },
      ).catch((error: { stdout: string; stderr: string }) => error);
      const { problems } = JSON.parse(stdout || `{"problems":[${JSON.stringify(stderr)}]}`);
      expect(problems).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("has every setting of every kind of OAuth provider in the patch of one", () => {
    const membersAt = (schema: JsonSchema | undefined, ...path: string[]): JsonSchema | undefined =>
      path.reduce<JsonSchema | undefined>(
        (found, name) => (found?.properties as Record<string, JsonSchema> | undefined)?.[name],
        schema,
      );
    const namesIn = (schema: JsonSchema | undefined) => Object.keys(schema?.properties ?? {});
    const providers = membersAt(schemas.TenantSettings, "third_party", "providers");
    const kinds = namesIn(providers).map((name) => membersAt(providers, name));
    const custom = membersAt(schemas.TenantSettings, "third_party", "custom_providers");
    const settings = [...kinds, custom?.additionalProperties as JsonSchema].flatMap(namesIn);
    expect(namesIn(schemas.OAuthProviderPatch).sort()).toEqual([...new Set(settings)].sort());
  });
});

/** Paths of the objects with declared members that take others. */
function looseObjects(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const schema = value as JsonSchema;
  if (typeof schema.$ref === "string")
    return looseObjects(schemas[schema.$ref.replace("#/components/schemas/", "")], at);
  const own =
    schema.type === "object" && schema.properties && schema.additionalProperties !== false ? [at] : [];
  return [
    ...own,
    ...Object.entries(schema).flatMap(([name, member]) => looseObjects(member, `${at}/${name}`)),
  ];
}
