import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { columns } from "../arguments.ts";
import { type Cli, CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";
import { exportUsers } from "../users/export.ts";
import { importUsers } from "../users/import.ts";

const tenant = { description: "Id of the tenant; by default the default tenant.", value: "id" } as const;

export const usersList = command({
  name: "users list",
  summary: "List users.",
  options: { tenant, json: { description: "One JSON object per line." } },
  async run(cli, values) {
    await cli.withRuntime(async (runtime) => {
      const of = await findTenant(runtime, values.tenant);
      for await (const user of exportUsers(runtime, of, { withHashes: false })) {
        const { id, username, created_at } = user;
        const email = user.emails.find((one) => one.is_primary)?.address ?? null;
        if (values.json) await cli.print(JSON.stringify({ id, email, username, created_at }));
        else await cli.print([id, created_at, email ?? "-", username ?? "-"].join("  "));
      }
    });
  },
});

export const usersExport = command({
  name: "users export",
  summary: "Write users as lines of JSON for `users import`.",
  details:
    "Includes passkeys, which are public keys. Never includes secrets of authenticator apps or recovery codes.",
  options: { tenant, "with-hashes": { description: "Include the hashes of passwords." } },
  async run(cli, values) {
    await cli.withRuntime(async (runtime) => {
      const of = await findTenant(runtime, values.tenant);
      const users = exportUsers(runtime, of, { withHashes: values["with-hashes"] });
      for await (const user of users) await cli.print(JSON.stringify(user));
    });
  },
});

export const usersImport = command({
  name: "users import",
  summary: "Create users from lines of JSON.",
  details: [
    "Reads the file, or standard input. Each line is imported completely, or it is rejected, reported and has no",
    "effect. Members of a line, most of which are optional:",
    "",
    ...columns([
      ["id", "a UUID"],
      ["emails", '[{"address", "is_primary", "is_verified"}]'],
      ["username", "text"],
      ["password_hash", "argon2id as a PHC string, $argon2id$v=19$m=…; no other scheme"],
      ["name, given_name, …", "text, family_name too; picture: an address"],
      ["public_metadata, …", "an object, private_metadata and unsafe_metadata too"],
      ["passkeys", '[{"id", "public_key", "sign_count", "aaguid", "transports", …}]'],
      ["identities", '[{"provider", "subject", "email"}]'],
      ["created_at", "a time"],
    ]),
  ].join("\n"),
  takes: ["file?"],
  options: { tenant, json: { description: "The result, as JSON." } },
  async run(cli, values, [file]) {
    const lines = await linesOf(cli, file);
    const { imported, rejected } = await cli.withRuntime(async (runtime) =>
      importUsers(runtime, await findTenant(runtime, values.tenant), lines, ({ line, reason }) => {
        if (!values.json) cli.printError(`line ${line}: ${reason}`);
      }),
    );
    await cli.print(values.json ? JSON.stringify({ imported, refused: rejected }) : `${imported} imported`);
    if (rejected.length > 0) throw new CommandError(`${rejected.length} rejected`);
  },
});

async function linesOf({ input }: Cli, file: string | undefined): Promise<AsyncIterable<string>> {
  if (file === undefined || file === "-") return lines(() => input);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error.code);
  if (typeof found !== "object") throw new CommandError(`${file} cannot be read: ${found}`);
  if (!found.isFile()) throw new CommandError(`${file} is not a file`);
  return lines(() => createReadStream(file));
}

/** Yields the lines of a stream. Opens it for the first line, because the reader would drop earlier lines. */
async function* lines(open: () => NodeJS.ReadableStream): AsyncGenerator<string> {
  yield* createInterface({ input: open(), crlfDelay: Number.POSITIVE_INFINITY });
}
