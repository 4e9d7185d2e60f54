import { existsSync, readFileSync } from "node:fs";

/** A ceremony with its answers, from the text of Web Authentication Level 3, section 16. */
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

const folder = new URL("../../../shared/data/", import.meta.url);
const names = ["none-es256", "packed-self-es256", "packed-es256"];
const present = existsSync(folder);

/** Says, in the name of a test, whether the vectors are there: they are data that lies beside the repository. */
export const vectorsAre = present ? "(from ../shared/data)" : "(absent: there is no ../shared/data here)";

export const vectors: Vector[] = present
  ? names.map((name) => JSON.parse(readFileSync(new URL(`webauthn-${name}.json`, folder), "utf8")))
  : [];
