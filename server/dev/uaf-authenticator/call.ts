import type { KeyObject } from "node:crypto";
import type { AssertionFaults, Attestation, Extension } from "./assertions.ts";
import type { UafAlgorithm, UafKeyFormat } from "./keys.ts";
import type { Header } from "./requests.ts";

/** What a software authenticator of FIDO UAF is, what it holds, and what one call has it say. */

export interface UafSettings {
  /** Vendor and model; the published Android client's without one. */
  aaid?: string;
  algorithm?: UafAlgorithm;
  keyFormat?: UafKeyFormat;
  attestation?: Attestation;
  version?: number;
  /** Whether signatures and registrations are counted; otherwise the counters stay 0. */
  counts?: boolean;
  /** Bytes of the nonce. */
  nonceLength?: number;
  /** Keys that it held before. */
  keys?: readonly HeldKey[];
}

export interface HeldKey {
  id: Buffer;
  appId: string;
  username: string;
  privateKey: KeyObject;
  signCounter: number;
}

export interface FinalChallengeParams {
  appID: string;
  challenge: string;
  facetID: string;
  channelBinding: Record<string, string>;
}

export interface UafCall {
  /** The application, for instance `https://login.example` or `android:apk-key-hash:…`. */
  facetId: string;
  /** The trusted facet list behind the appID, as parsed JSON; without it every facet is taken for trusted. */
  trustedFacets?: unknown;
  /** Extensions that the authenticator adds. */
  extensions?: readonly Extension[];
  instead?: Instead;
}

/** What is said, or done, instead of what is right. */
export interface Instead extends AssertionFaults {
  /** Members of the response's header; undefined leaves one out. */
  header?: { [Member in keyof Header]?: unknown };
  finalChallengeParams?: { [Member in keyof FinalChallengeParams]?: unknown };
  /** The whole string that is sent, and hashed, as fcParams. */
  fcParams?: string;
  /** Whether fcParams ends in `=`, as some clients write it. */
  padded?: boolean;
  finalChallengeHash?: Uint8Array;
  assertionScheme?: string;
  /** Assertions beside the one that is made: before it, or after it. */
  before?: readonly unknown[];
  after?: readonly unknown[];
  aaid?: string;
  authenticatorVersion?: number;
  mode?: number;
  algorithm?: number;
  keyFormat?: number;
  keyId?: Uint8Array;
  signCounter?: number;
  regCounter?: number;
  publicKey?: Uint8Array;
  /** Tells an RSA key as SubjectPublicKeyInfo. */
  spki?: boolean;
  nonce?: Uint8Array;
  /** The content that was confirmed; null answers as if there had been none. */
  transaction?: string | null;
  transactionContentHash?: Uint8Array;
  /** Whether to answer though the policy wants another authenticator, key or facet. */
  unasked?: boolean;
  /** Signs with this one, named by the policy or not. */
  key?: HeldKey;
}
