import {
  type KeySet,
  type VerifiedReceipt,
  verifyReceipt,
} from "../../passkey-server/receipt-verification.ts";
import { visibleLine } from "../../passkey-server/visible-text.ts";
import { columns } from "../arguments.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { readInput } from "../read-input.ts";

export const receiptVerify = command({
  name: "receipt verify",
  summary: "Verify the receipt of a transaction. Needs no server, database or network.",
  details: [
    "Reads the receipt from the file, or from standard input for -, and prints the confirmed transaction.",
    "",
    "The issuer publishes its keys at /passkeys/<tenant>/.well-known/jwks.json, and removes a key some time after its",
    "replacement. Store that document together with the receipts.",
    "",
    "Without the issuer, the signature of the passkey still proves the transaction's id, its data and the page. The",
    "owner of the passkey, the user's id and the times are not verified then: compare the public key with one that you",
    "have stored for the user (--public-key).",
  ].join("\n"),
  takes: ["file"],
  options: {
    jwks: { description: "The issuer's public keys, a JSON Web Key Set.", value: "file" },
    "without-issuer": { description: "Do not verify the issuer's signature." },
    "public-key": { description: "The required passkey: COSE_Key in base64url.", value: "key" },
    "relying-party": { description: "The required relying party.", value: "id" },
    origin: { description: "An accepted origin of the page.", value: "origin", multiple: true },
    json: { description: "The verified content of the receipt, as JSON." },
  },
  async run(cli, values, [file = ""]) {
    if ((values.jwks === undefined) !== values["without-issuer"])
      throw new UsageError("expected either --jwks <file> or --without-issuer (stile receipt verify --help)");
    const jwks = values.jwks === undefined ? null : await readKeys(values.jwks, cli.input);
    const receipt = await readInput(file, cli.input);
    const verdict = verifyReceipt(receipt.trim(), {
      jwks,
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
