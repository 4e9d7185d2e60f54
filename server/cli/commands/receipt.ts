import { ConfigError, StartError } from "../../config/errors.ts";
import { loadPublicKeys } from "../../keys/signing-key-store.ts";
import { publishedKey } from "../../keys/signing-keys.ts";
import { isUuid } from "../../lib/uuid.ts";
import { verifyIssuerSignature } from "../../passkey-server/receipt-signature.ts";
import {
  type KeySet,
  type VerifiedReceipt,
  verifyReceipt,
} from "../../passkey-server/receipt-verification.ts";
import { visibleLine } from "../../passkey-server/visible-text.ts";
import { columns } from "../arguments.ts";
import { type Cli, CommandError, command, UsageError } from "../command.ts";
import { readInput } from "../files.ts";

export const receiptVerify = command({
  name: "receipt verify",
  summary: "Verify the receipt of a transaction. With --jwks, needs no server, database or network.",
  details: [
    "Reads the receipt from the file, or from standard input for -, and prints the confirmed transaction.",
    "",
    "The issuer's keys, replaced ones included, are in the archive of its database, which is read by default, and at",
    "/passkeys/<tenant>/.well-known/receipt-keys.json. Store that document together with the receipts, and name it with",
    "--jwks, to verify them without the issuer.",
    "",
    "Without the issuer, the signature of the passkey still proves the transaction's id, its data and the page. The",
    "owner of the passkey, the user's id and the times are not verified then: compare the public key with one that you",
    "have stored for the user (--public-key).",
  ].join("\n"),
  takes: ["file"],
  options: {
    jwks: {
      description: "The issuer's public keys, a JSON Web Key Set. Default: the archive of the database.",
      value: "file",
    },
    "without-issuer": { description: "Do not verify the issuer's signature." },
    "public-key": { description: "The required passkey: COSE_Key in base64url.", value: "key" },
    "relying-party": { description: "The required relying party.", value: "id" },
    origin: { description: "An accepted origin of the page.", value: "origin", multiple: true },
    json: { description: "The verified content of the receipt, as JSON." },
  },
  async run(cli, values, [file = ""]) {
    if (values.jwks !== undefined && values["without-issuer"])
      throw new UsageError("--jwks and --without-issuer exclude each other (stile receipt verify --help)");
    const given = values.jwks === undefined ? null : await readKeys(values.jwks, cli.input);
    const receipt = (await readInput(file, cli.input)).trim();
    const verdict = verifyReceipt(receipt, {
      jwks: values["without-issuer"] ? null : (given ?? (await archivedKeys(cli, receipt))),
      publicKey: values["public-key"],
      relyingPartyId: values["relying-party"],
      origins: values.origin.length > 0 ? values.origin : undefined,
    });
    if (values.json)
      await cli.print(
        JSON.stringify(
          verdict.ok
            ? { valid: true, ...jsonOf(verdict.receipt) }
            : { valid: false, code: verdict.code, reason: verdict.reason },
        ),
      );
    if (!verdict.ok) throw new CommandError(`the receipt is invalid (${verdict.code}). ${verdict.reason}`);
    if (!values.json)
      for (const line of report(verdict.receipt, values["public-key"] !== undefined)) await cli.print(line);
  },
});

function jsonOf(receipt: VerifiedReceipt) {
  return {
    transaction_id: receipt.transactionId,
    user_id: receipt.userId,
    data: receipt.data,
    created_at: receipt.createdAt.toISOString(),
    confirmed_at: receipt.confirmedAt.toISOString(),
    issuer: receipt.issuer,
    issuer_key: receipt.issuerKeyId,
    tenant_id: receipt.tenantId,
    relying_party: receipt.relyingPartyId,
    origin: receipt.origin,
    credential_id: receipt.credentialId,
    public_key: receipt.publicKey,
    aaguid: receipt.aaguid,
    attestation_trust: receipt.attestationTrust,
    user_verified: receipt.userVerified,
  };
}

/**
 * Formats a receipt as text. Control characters are made visible, because a terminal would execute them.
 *
 * @param expectedKey whether the public key was compared with a stored one
 */
function report(receipt: VerifiedReceipt, expectedKey: boolean): string[] {
  const verified = receipt.issuerKeyId !== null;
  const unverified = verified ? "" : "  (not verified)";
  const facts = [
    ["transaction", receipt.transactionId],
    ["user", `${receipt.userId}${unverified}`],
    ["confirmed at", `${receipt.confirmedAt.toISOString()}${unverified}`],
    ["page", receipt.origin],
    ["relying party", receipt.relyingPartyId],
    ["passkey", `${receipt.credentialId}${unverified}`],
    ["public key", `${receipt.publicKey}${expectedKey ? "" : unverified}`],
    [
      "verification",
      receipt.userVerified ? "the authenticator verified the user" : "the user was present but not verified",
    ],
    [
      "issuer",
      verified ? `${receipt.issuer}, with its key ${receipt.issuerKeyId}` : `${receipt.issuer}${unverified}`,
    ],
  ] as const;
  return [
    verified ? "The receipt is valid." : "The passkey's signature is valid. The issuer's was not verified.",
    "",
    ...columns(facts.map(([name, value]) => [name, visibleLine(value)])),
    "",
    "Confirmed data:",
    "",
    ...JSON.stringify(receipt.data, null, 2)
      .split("\n")
      .map((line) => `  ${visibleLine(line)}`),
  ];
}

/** Reads the keys of the tenant that the receipt names; no key of another tenant verifies it. */
async function archivedKeys(cli: Cli, receipt: string): Promise<KeySet> {
  const read = verifyIssuerSignature(receipt, null);
  const tenantId = read.ok ? read.claims.tenant_id : "";
  if (!isUuid(tenantId)) return { keys: [] };
  try {
    const keys = await cli.withRuntime(({ database }) =>
      loadPublicKeys(database.read, { tenantId, purpose: "passkeys" }),
    );
    return { keys: keys.map(publishedKey) };
  } catch (error) {
    if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
    throw new CommandError(
      `${error.message}. Without the issuer's database, name its keys with --jwks <file>.`,
    );
  }
}

async function readKeys(file: string, input: NodeJS.ReadableStream): Promise<KeySet> {
  const text = await readInput(file, input);
  try {
    const value = JSON.parse(text) as Partial<KeySet> & { kty?: unknown };
    // A single key is accepted too.
    if (typeof value?.kty === "string") return { keys: [value as KeySet["keys"][number]] };
    if (Array.isArray(value?.keys)) return { keys: value.keys };
  } catch {
    // Invalid JSON is reported like an invalid key set.
  }
  throw new CommandError(`${file} is not a JSON Web Key Set`);
}
