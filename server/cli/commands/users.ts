import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { audit } from "../../audit/audit.ts";
import { currentTime } from "../../database/current-time.ts";
import { exportUsers } from "../../moving/export-users.ts";
import type { FirebaseHashParameters } from "../../moving/form.ts";
import { parseFirebaseParameters } from "../../moving/forms/firebase-parameters.ts";
import { type FormName, formNames } from "../../moving/forms/index.ts";
import { positionOf, type Refusal, reportInFile, reportTo } from "../../moving/import-report.ts";
import { type ImportResult, importUsers } from "../../moving/import-users.ts";
import { columns } from "../arguments.ts";
import { atTenant } from "../at-tenant.ts";
import { type Cli, CommandError, command, UsageError } from "../command.ts";
import { cannotBe, createPrivateFile, readText } from "../files.ts";
import { tenantOption } from "../options.ts";

export const usersList = command({
  name: "users list",
  summary: "List users.",
  options: { tenant: tenantOption, json: { description: "One JSON object per line." } },
  async run(cli, values) {
    await atTenant(cli, values.tenant, ({ runtime, tenant }) =>
      exportUsers(runtime, tenant, { withSecrets: false }, async (lines) => {
        for (const line of lines) await cli.print(listed(line, values.json));
      }),
    );
  },
});

interface ListedUser {
  id: string;
  username: string | null;
  created_at: string;
  emails: { address: string; is_primary: boolean }[];
}

function listed(line: string, asJson: boolean): string {
  const { id, username, created_at, emails } = JSON.parse(line) as ListedUser;
  const email = emails.find((one) => one.is_primary)?.address ?? null;
  if (asJson) return JSON.stringify({ id, email, username, created_at });
  return [id, created_at, email ?? "-", username ?? "-"].join("  ");
}

export const usersExport = command({
  name: "users export",
  summary: "Write users as lines of JSON for `users import`.",
  details: [
    "Writes everything that an import needs, secrets included: hashes of passwords, secrets of authenticator apps,",
    "digests of recovery codes. Sessions, trusted devices and FIDO UAF authenticators are not exported. The users are",
    "those of one moment, also while a server runs.",
  ].join("\n"),
  options: {
    tenant: tenantOption,
    output: { description: "Write to this new file, which only its owner may read.", value: "file" },
    "without-secrets": { description: "Leave out hashes of passwords, secrets and digests." },
  },
  async run(cli, values) {
    const withSecrets = !values["without-secrets"];
    if (withSecrets)
      cli.printError("the output contains secrets: keep it encrypted, and delete it after the import");
    const output = values.output === undefined ? null : await createPrivateFile(values.output);
    const print = (text: string) => (output ? output.write(text) : cli.print(text));
    await atTenant(cli, values.tenant, async (at) => {
      const { runtime, tenant } = at;
      const exported = await exportUsers(runtime, tenant, { withSecrets }, (lines) =>
        print(lines.join("\n")),
      );
      const now = await currentTime(runtime);
      const details = { exported, with_secrets: withSecrets };
      await runtime.database.write.transaction(audit({ ...at, now }, "users_exported", details));
    });
    await output?.close();
  },
});

export const usersImport = command({
  name: "users import",
  summary: "Create users from a file of another system, or of `users export`.",
  details: [
    "Reads the file, or standard input, as a stream. Each user is imported completely, or is refused, reported and has",
    "no effect; existing accounts are never changed. docs/moving-in.md describes the forms, and what each cannot carry",
    "over. Lines of JSON have these members, most of which are optional:",
    "",
    ...columns([
      ["id", "a UUID"],
      ["emails", '[{"address", "is_primary", "is_verified"}]'],
      ["username", "text"],
      ["password_hash", "argon2, bcrypt, scrypt or PBKDF2, renewed as argon2id at the next login"],
      ["name, given_name, …", "text, family_name too; picture: an address"],
      ["public_metadata, …", "an object, private_metadata and unsafe_metadata too"],
      ["passkeys", '[{"id", "public_key", "user_handle", "sign_count", "transports", …}]'],
      ["totp", '{"secret"} in base 32'],
      ["identities", '[{"provider", "subject", "email"}]'],
      ["blocked_at, created_at", "times"],
    ]),
  ].join("\n"),
  takes: ["file?"],
  options: {
    tenant: tenantOption,
    format: { description: `${formNames.join(", ")}; recognized by default.`, value: "name" },
    "hash-parameters": {
      description: "Firebase: file with the hash parameters of the project, or these as JSON.",
      value: "file",
    },
    identities: { description: "Supabase: file with the rows of auth.identities.", value: "file" },
    provider: {
      description: "Name of an identity provider here, by its name there.",
      value: "there=here",
      multiple: true,
    },
    report: { description: "Write refused lines to this file, as JSON.", value: "file" },
    "dry-run": { description: "Judge everything, and write nothing." },
    resume: { description: "Continue an interrupted import of the same input." },
    "emit-events": { description: "Emit user.create for each user, for webhooks." },
    json: { description: "The result, as JSON." },
  },
  async run(cli, values, [file]) {
    if (values["dry-run"] && values.resume) throw new UsageError("--dry-run and --resume exclude each other");
    const parameters = values["hash-parameters"];
    const options = {
      form: formOf(values.format),
      providers: providersOf(values.provider),
      dryRun: values["dry-run"],
      resume: values.resume,
      emitEvents: values["emit-events"],
      ...(parameters ? { firebase: await firebaseParameters(parameters) } : {}),
      ...(values.identities === undefined ? {} : { identities: await inputOf(cli, values.identities) }),
    };
    const input = await inputOf(cli, file);
    if (values.report && (await isSameFile(values.report, [file, values.identities])))
      throw new UsageError("--report names an input, which it would overwrite");
    // The result of `--json` names the refused lines itself, unless they are in a file.
    const refused: Refusal[] = [];
    const report = values.report
      ? await reportInFile(values.report).catch(cannotBe("written", values.report))
      : reportTo((refusal) =>
          values.json ? refused.push(refusal) : cli.printError(`${positionOf(refusal)}: ${refusal.reason}`),
        );
    const result = await atTenant(cli, values.tenant, ({ runtime, tenant }) =>
      importUsers(runtime, tenant, input, options, report),
    ).finally(() => report.close());
    if (values.json)
      await cli.print(JSON.stringify({ ...result, ...(values.report ? {} : { refusals: refused }) }));
    else for (const line of summary(result, values)) await cli.print(line);
    if (result.refused > 0) throw new CommandError(`${result.refused} refused`);
  },
});

function summary(result: ImportResult, values: { resume: boolean; "dry-run": boolean }): string[] {
  const { form, imported, omitted, resumedAfter } = result;
  const resumed =
    resumedAfter > 0 ? `resumed after ${resumedAfter} records` : "nothing to resume: started anew";
  return [
    ...(values.resume ? [resumed] : []),
    `${imported} ${values["dry-run"] ? "would be imported" : "imported"} (${form})`,
    ...Object.entries(omitted).map(([field, count]) => `not carried over for ${count}: ${field}`),
  ];
}

function formOf(name: string | undefined): FormName | null {
  if (name === undefined) return null;
  const form = formNames.find((known) => known === name);
  if (!form) throw new UsageError(`--format must be one of: ${formNames.join(", ")}`);
  return form;
}

function providersOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((pair) => {
    const [, there, here] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
    if (!there || !here) throw new UsageError(`--provider must be <there>=<here>: ${pair}`);
    return [there, here] as const;
  });
  return Object.fromEntries(pairs);
}

async function firebaseParameters(given: string): Promise<FirebaseHashParameters> {
  const text = given.trimStart().startsWith("{") ? given : await readText(given);
  const parameters = parseFirebaseParameters(text);
  if (!parameters)
    throw new CommandError(
      "the hash parameters need base64_signer_key, base64_salt_separator, rounds and mem_cost",
    );
  return parameters;
}

/** Whether a file is one of the others, whatever it is called there. */
async function isSameFile(file: string, others: readonly (string | undefined)[]): Promise<boolean> {
  const identify = (path: string) =>
    stat(path).then(
      ({ dev, ino }) => `${dev}:${ino}`,
      () => null,
    );
  const own = await identify(file);
  const given = others.filter((path) => path !== undefined);
  return own !== null && (await Promise.all(given.map(identify))).includes(own);
}

const CHUNK_BYTES = 262_144;

async function inputOf({ input }: Cli, file: string | undefined): Promise<AsyncIterable<Buffer>> {
  if (file === undefined || file === "-") return asBuffers(input);
  const found = await stat(file).catch(cannotBe("read", file));
  if (!found.isFile()) throw new CommandError(`${file} is not a file`);
  return createReadStream(file, { highWaterMark: CHUNK_BYTES });
}

async function* asBuffers(input: NodeJS.ReadableStream): AsyncGenerator<Buffer> {
  for await (const chunk of input) yield Buffer.from(chunk as Uint8Array);
}
