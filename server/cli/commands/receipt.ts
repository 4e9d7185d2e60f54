import {
  type KeySet,
  type VerifiedReceipt,
  verifyReceipt,
} from "../../passkey-server/receipt-verification.ts";
import { visibleLine } from "../../passkey-server/visible-text.ts";
import { columns } from "../arguments.ts";
import { CommandError, command, UsageError } from "../command.ts";
import { readGiven } from "../given-file.ts";

export const receiptVerify = command({
  name: "receipt verify",
  summary: "Verify the receipt of a transaction, without server, database and network.",
  details: [
    "Reads the receipt from the file, or from standard input for -, and says who agreed to what, when and where.",
    "",
    "The issuer's keys are those of /passkeys/<tenant>/.well-known/jwks.json. A key is taken down some time after",
    "another took its place, so whoever keeps receipts keeps that document too, as it was at the time.",
    "",
    "Without the issuer, what the passkey signed still holds: the transaction's id, its data, and the page. Nobody",
    "vouches then for whose passkey it is, for the user's id, and for the times: compare the public key with the one",
    "you have kept of the user (--public-key).",
  ].join("\n"),
  takes: ["file"],
  options: {
    jwks: { description: "The issuer's public keys, a JSON Web Key Set.", value: "file" },
    "without-issuer": { description: "Leave the issuer's signature aside." },
    "public-key": { description: "The passkey must be this one: COSE_Key in base64url.", value: "key" },
    "relying-party": { description: "The relying party must be this one.", value: "id" },
    origin: { description: "The page must be one of these.", value: "origin", multiple: true },
    json: { description: "What the receipt proves, as JSON." },
  },
  async run(cli, values, [file = ""]) {
    if ((values.jwks === undefined) !== values["without-issuer"])
      throw new UsageError("say --jwks <file> or --without-issuer (stile receipt verify --help)");
    const jwks = values.jwks === undefined ? null : await readKeys(values.jwks, cli.input);
    const receipt = await readGiven(file, cli.input);
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
            ? { valid: true, ...shown(verdict.receipt) }
            : { valid: false, code: verdict.code, reason: verdict.reason },
        ),
      );
    if (!verdict.ok) throw new CommandError(`the receipt does not hold (${verdict.code}). ${verdict.reason}`);
    if (!values.json)
      for (const line of report(verdict.receipt, values["public-key"] !== undefined)) await cli.print(line);
  },
});

function shown(receipt: VerifiedReceipt) {
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
    user_verified: receipt.userVerified,
  };
}

/**
 * For people. A terminal obeys what it prints, so nothing in it is printed that cannot be seen.
 *
 * @param expectedKey whether the public key is one that was kept elsewhere
 */
function report(receipt: VerifiedReceipt, expectedKey: boolean): string[] {
  const vouched = receipt.issuerKeyId !== null;
  const claimed = vouched ? "" : "  (nobody vouches for it)";
  const facts = [
    ["transaction", receipt.transactionId],
    ["user", `${receipt.userId}${claimed}`],
    ["agreed at", `${receipt.confirmedAt.toISOString()}${claimed}`],
    ["on the page", receipt.origin],
    ["relying party", receipt.relyingPartyId],
    ["passkey", `${receipt.credentialId}${claimed}`],
    ["public key", `${receipt.publicKey}${expectedKey ? "" : claimed}`],
    [
      "its owner",
      receipt.userVerified ? "was verified by the authenticator" : "was present, and not verified",
    ],
    [
      "issuer",
      vouched ? `${receipt.issuer}, by its key ${receipt.issuerKeyId}` : `${receipt.issuer}${claimed}`,
    ],
  ] as const;
  return [
    vouched ? "The receipt holds." : "The passkey's signature holds. The issuer's was left aside.",
    "",
    ...columns(facts.map(([name, value]) => [name, visibleLine(value)])),
    "",
    "Agreed to:",
    "",
    ...JSON.stringify(receipt.data, null, 2)
      .split("\n")
      .map((line) => `  ${visibleLine(line)}`),
  ];
}

async function readKeys(file: string, input: NodeJS.ReadableStream): Promise<KeySet> {
  const text = await readGiven(file, input);
  try {
    const value = JSON.parse(text) as Partial<KeySet> & { kty?: unknown };
    // A key that was kept by itself is as good.
    if (typeof value?.kty === "string") return { keys: [value as KeySet["keys"][number]] };
    if (Array.isArray(value?.keys)) return { keys: value.keys };
  } catch {
    // What is no JSON is no key set either.
  }
  throw new CommandError(`${file} is not a JSON Web Key Set`);
}
