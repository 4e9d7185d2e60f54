import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

/** A test vector of Web Authentication Level 3, section 16. */
export interface Vector {
  id: string;
  rpId: string;
  origin: string;
  fmt: string;
  flagsRegistration: { UV: boolean; BE: boolean; BS: boolean };
  flagsAuthentication: { UV: boolean; BE: boolean; BS: boolean };
  registration: { challenge: string; response: { id: string } };
  credential: { id: string; publicKeyCose: string; counter: number; backupEligible: boolean };
  authentication: { challenge: string; response: { id: string } };
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`vectors/webauthn-${name}.json`, import.meta.url), "utf8"));

export const vectors: Vector[] = ["none-es256", "packed-self-es256", "packed-es256"].map(read);

/** The vectors of ceremonies in a frame of a page of another origin. */
export const frameVectors: (Vector & { topOrigin: string | null })[] = [
  "none-es256-cross-origin",
  "none-es256-top-origin",
].map(read);

const { attestationRoot } = JSON.parse(
  readFileSync(new URL("vectors/webauthn-attestation-root.json", import.meta.url), "utf8"),
);

/** The root certificate of the vectors with attestation certificates. */
export const vectorRoot = new X509Certificate(Buffer.from(attestationRoot.attestation_ca_cert, "hex"));
