import type { KeyObject } from "node:crypto";
import type { AssertionDefects, Attestation, Extension } from "./assertions.ts";
import type { UafAlgorithm, UafKeyFormat } from "./keys.ts";
import type { Header } from "./requests.ts";

/** Settings of a software authenticator of FIDO UAF, its keys, and the overrides of one call. */

export interface UafSettings {
  /** Vendor and model. Default: those of the published Android client. */
  aaid?: string;
  algorithm?: UafAlgorithm;
  keyFormat?: UafKeyFormat;
  attestation?: Attestation;
  version?: number;
  /** Whether it has counters; otherwise they stay 0. */
  counts?: boolean;
  /** Bytes of the nonce. */
  nonceLength?: number;
  /** Longest transaction that it shows, in characters of base64url. */
  maxTransactionCharacters?: number;
  /** Existing keys. */
  keys?: readonly StoredKey[];
}

export interface StoredKey {
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
  /** The trusted facet list of the appID, as parsed JSON. Absent: every facet is trusted. */
  trustedFacets?: unknown;
  /** Extensions of the authenticator. */
  extensions?: readonly Extension[];
  overrides?: Overrides;
}

/** Values and behaviour that replace the correct ones. */
export interface Overrides extends AssertionDefects {
  /** Members of the response's header; undefined omits one. */
  header?: { [Member in keyof Header]?: unknown };
  finalChallengeParams?: { [Member in keyof FinalChallengeParams]?: unknown };
  /** The whole string of fcParams, which is also hashed. */
  fcParams?: string;
  /** Whether fcParams is padded, as by some clients. */
  padded?: boolean;
  finalChallengeHash?: Uint8Array;
  assertionScheme?: string;
  /** Additional assertions. */
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
  /** Encodes the public key as SubjectPublicKeyInfo. */
  spki?: boolean;
  nonce?: Uint8Array;
  /** The confirmed content; null for none. */
  transaction?: string | null;
  transactionContentHash?: Uint8Array;
  /** Whether to answer despite a policy or facet list that excludes this authenticator, key or facet. */
  ignorePolicy?: boolean;
  /** The signing key, whatever the policy says. */
  key?: StoredKey;
}
