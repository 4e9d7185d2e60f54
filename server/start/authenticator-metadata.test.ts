import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../config/load.ts";
import { makeAuthority, makeCertificate } from "../lib/certificates.ts";
import { metadataBlob } from "../testing/authenticator-metadata.ts";
import { folderForTests } from "../testing/open-for-tests.ts";
import { loadAuthenticatorMetadata } from "./authenticator-metadata.ts";

const folder = folderForTests("metadata");

const root = makeAuthority("Metadata Root");
const signer = makeCertificate({ subject: { CN: "Signer" }, issuer: root });
const pem = `-----BEGIN CERTIFICATE-----\n${root.der.toString("base64")}\n-----END CERTIFICATE-----\n`;

const file = join(folder, "blob.jwt");
writeFileSync(file, `${await metadataBlob({ entries: [], nextUpdate: "2026-12-01", signer })}\n`);

function load(settings: Record<string, string>, today = new Date()) {
  const warn = vi.fn();
  const config = loadConfig(settings, folder);
  return { warn, metadata: loadAuthenticatorMetadata(config, { warn }, today) };
}
const ofOwnIssuer = { STILE_WEBAUTHN_METADATA_ROOTS: JSON.stringify([pem]) };

test("there is no list of authenticator models by default", async () => {
  expect(await load({}).metadata).toBeNull();
});

test("webauthn.metadata_file is read from the folder of the configuration", async () => {
  const { metadata } = load({ ...ofOwnIssuer, STILE_WEBAUTHN_METADATA_FILE: "blob.jwt" });
  expect(await metadata).toMatchObject({ number: 42, nextUpdate: "2026-12-01" });
});

test("A135 the start fails for a list that FIDO has not signed", async () => {
  const { metadata } = load({ STILE_WEBAUTHN_METADATA_FILE: file });
  await expect(metadata).rejects.toThrow(
    "webauthn.metadata_file is not accepted: its certificates have expired, or do not lead to the root of its issuer",
  );
});

test("the start fails without the file", async () => {
  const { metadata } = load({ STILE_WEBAUTHN_METADATA_FILE: "missing.jwt" });
  await expect(metadata).rejects.toThrow(/webauthn\.metadata_file cannot be read: .*missing\.jwt \(ENOENT\)/);
});

test("an outdated list is a warning", async () => {
  const settings = { ...ofOwnIssuer, STILE_WEBAUTHN_METADATA_FILE: file };
  writeFileSync(file, await metadataBlob({ entries: [], nextUpdate: "2020-01-01", signer }));
  const outdated = load(settings);
  expect(await outdated.metadata).toMatchObject({ nextUpdate: "2020-01-01" });
  expect(outdated.warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ next_update: "2020-01-01" }),
    expect.stringContaining("outdated"),
  );
});
