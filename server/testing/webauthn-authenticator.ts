import { randomBytes } from "node:crypto";
import type { Cbor } from "./cbor.ts";
import { type CoseAlgorithm, type CoseKey, coseAlgorithms, makeKey, signWith } from "./cose-key.ts";
import {
  type AssertionJson,
  base64url,
  credentialJson,
  publicKeyOf,
  type RegistrationJson,
} from "./webauthn-json.ts";
import {
  attestationObject,
  authenticatorData,
  type ClientData,
  clientDataJson,
  type Flags,
  sha256,
  signedBytes,
} from "./webauthn-messages.ts";
import type { Attestation, AttestationStatement } from "./webauthn-statements.ts";

/**
 * A browser with an authenticator, in software, after Web Authentication Level 3 (sections 5.1.3, 5.1.4, 6.3.2
 * and 6.3.3). It shares no code with the verifier, and overrides make every kind of invalid response.
 */
export interface Authenticator {
  /** Its credentials, oldest first. */
  readonly credentials: Credential[];
  /**
   * Makes a credential and answers as `PublicKeyCredential.toJSON()` does.
   *
   * @param options PublicKeyCredentialCreationOptionsJSON, bare or as the member `publicKey`
   * @throws DOMException `NotSupportedError`, `InvalidStateError` or `NotAllowedError`, as a browser would
   */
  create(options: unknown, call: CreateCall): RegistrationJson;
  /**
   * Signs a challenge and answers as `PublicKeyCredential.toJSON()` does.
   *
   * @param options PublicKeyCredentialRequestOptionsJSON, bare or as the member `publicKey`
   * @throws DOMException `NotAllowedError` if no credential matches
   */
  get(options: unknown, call: GetCall): AssertionJson;
}

export interface AuthenticatorSettings {
  /** Supported algorithms. The order of the relying party decides which one is used. */
  algorithms?: CoseAlgorithm[];
  /**
   * Conveyed if the relying party requests attestation: `packed` is self attestation (section 8.2), the others are made by
   * `webauthn-statements.ts`.
   */
  attestation?: "none" | "packed" | Attestation;
  /** Whether it can verify its user. */
  userVerification?: boolean;
  backup?: "no" | "eligible" | "backed-up";
  /** Whether signatures are counted; synchronised passkeys always report 0. */
  counts?: boolean;
  transports?: string[];
  attachment?: "platform" | "cross-platform";
  /** 16 bytes. */
  aaguid?: Uint8Array;
}

export interface Credential {
  id: Buffer;
  rpId: string;
  userHandle: Buffer;
  key: CoseKey;
  signCount: number;
  discoverable: boolean;
}

/** Overrides of valid values. */
export interface Overrides extends Partial<Omit<ClientData, "origin">>, Partial<Flags> {
  /** The relying party whose hash the authenticator data carries. */
  rpId?: string;
  signCount?: number;
  /** Whether the client data starts with a byte order mark. */
  byteOrderMark?: boolean;
  /** Writes the client data; default: as browsers do. */
  clientData?(data: Record<string, unknown>): string;
  extensions?: ReadonlyMap<string, Cbor>;
  /** Bytes appended to the authenticator data. */
  authenticatorDataTail?: Uint8Array;
  /** Flips one bit of the signature (at registration: of the packed statement). */
  brokenSignature?: boolean;
}

export interface CreateCall extends Overrides {
  /** Origin of the page, for instance `https://login.example`. */
  origin: string;
  credentialId?: Uint8Array;
  /** Algorithm of the key, even if it is not offered. */
  algorithm?: CoseAlgorithm;
  /** Replaces the public key: an encoded COSE_Key. */
  publicKey?: Buffer;
  /** Replaces the attestation format. */
  fmt?: string;
  /** Bytes appended to the attestation object. */
  attestationObjectTail?: Uint8Array;
  ignoreExcluded?: boolean;
}

export interface GetCall extends Overrides {
  origin: string;
  /** Signs with this credential, even if it is not allowed. */
  credential?: Credential;
  /** base64url; null leaves it out. */
  userHandle?: string | null;
}

/** Makes an authenticator. Default: ES256, user verification, synchronised passkeys, no attestation. */
export function softwareAuthenticator(settings: AuthenticatorSettings = {}): Authenticator {
  const {
    algorithms = [coseAlgorithms.ES256],
    attestation = "none",
    userVerification = true,
    backup = "backed-up",
    counts = false,
    transports = ["internal", "hybrid"],
    attachment = "platform",
    aaguid = Buffer.alloc(16),
  } = settings;
  const credentials: Credential[] = [];

  function flagsFor(preference: string | undefined, call: Overrides): Flags {
    if (preference === "required" && !userVerification && call.userVerified === undefined) {
      throw new DOMException("cannot verify its user", "NotAllowedError");
    }
    return {
      userPresent: call.userPresent ?? true,
      userVerified: call.userVerified ?? (userVerification && preference !== "discouraged"),
      backupEligible: call.backupEligible ?? backup !== "no",
      backedUp: call.backedUp ?? backup === "backed-up",
    };
  }

  function create(given: unknown, call: CreateCall): RegistrationJson {
    const options = publicKeyOf<PublicKeyCredentialCreationOptionsJSON>(given);
    const rpId = options.rp.id ?? new URL(call.origin).hostname;
    const excluded = new Set((options.excludeCredentials ?? []).map(({ id }) => id));
    if (!call.ignoreExcluded && credentials.some(({ id }) => excluded.has(id.toString("base64url")))) {
      throw new DOMException("already registered", "InvalidStateError");
    }
    const offered = options.pubKeyCredParams.map(({ alg }) => alg);
    const algorithm =
      call.algorithm ?? offered.map((alg) => algorithms.find((own) => own === alg)).find(Boolean);
    if (algorithm === undefined) throw new DOMException("no common algorithm", "NotSupportedError");
    const {
      residentKey,
      requireResidentKey,
      userVerification: preference,
    } = options.authenticatorSelection ?? {};
    const credential: Credential = {
      id: Buffer.from(call.credentialId ?? randomBytes(32)),
      rpId,
      userHandle: Buffer.from(options.user.id, "base64url"),
      key: makeKey(algorithm),
      signCount: counts ? 1 : 0,
      discoverable: residentKey === undefined ? requireResidentKey === true : residentKey !== "discouraged",
    };
    const clientData = clientDataFor("webauthn.create", options.challenge, call);
    const authData = authenticatorDataFor(
      {
        rpId: call.rpId ?? rpId,
        signCount: call.signCount ?? credential.signCount,
        attested: {
          aaguid,
          credentialId: credential.id,
          cose: call.publicKey ?? credential.key.cose,
        },
        ...flagsFor(preference, call),
      },
      call,
    );
    // Section 5.1.3: for "none" the client removes the attestation, except self attestation with a zero AAGUID.
    const named = aaguid.some((byte) => byte !== 0);
    const conveyed = (options.attestation ?? "none") !== "none" || (attestation === "packed" && !named);
    const { fmt, members } = conveyed ? statementOf() : { fmt: "none", members: new Map() };
    const object = attestationObject(call.fmt ?? fmt, members, authData);

    function statementOf(): AttestationStatement {
      if (attestation === "none") return { fmt: "none", members: new Map() };
      if (attestation === "packed") {
        const sig = signatureOf(credential, authData, clientData, call);
        return {
          fmt: "packed",
          members: new Map<string, Cbor>([
            ["alg", credential.key.algorithm],
            ["sig", sig],
          ]),
        };
      }
      const { id: credentialId, key } = credential;
      return attestation({ authData, clientDataHash: sha256(clientData), rpId, aaguid, credentialId, key });
    }

    // A user has one discoverable credential per relying party on one authenticator (section 6.3.2).
    const replaced = credentials.findIndex(
      (other) => other.discoverable && other.rpId === rpId && other.userHandle.equals(credential.userHandle),
    );
    if (credential.discoverable && replaced >= 0) credentials.splice(replaced, 1);
    credentials.push(credential);
    return credentialJson(credential.id, attachment, {
      clientDataJSON: base64url(clientData),
      attestationObject: base64url(Buffer.concat([object, call.attestationObjectTail ?? Buffer.alloc(0)])),
      authenticatorData: base64url(authData),
      transports,
      publicKeyAlgorithm: algorithm,
      ...(call.publicKey !== undefined
        ? {}
        : { publicKey: base64url(credential.key.publicKey.export({ format: "der", type: "spki" })) }),
    });
  }

  function get(given: unknown, call: GetCall): AssertionJson {
    const options = publicKeyOf<PublicKeyCredentialRequestOptionsJSON>(given);
    const rpId = options.rpId ?? new URL(call.origin).hostname;
    const allowed = new Set((options.allowCredentials ?? []).map(({ id }) => id));
    const fits = (one: Credential) =>
      one.rpId === rpId && (allowed.size === 0 ? one.discoverable : allowed.has(base64url(one.id)));
    const credential = call.credential ?? credentials.findLast(fits);
    if (!credential) throw new DOMException("no credential", "NotAllowedError");
    if (counts) credential.signCount += 1;
    const clientData = clientDataFor("webauthn.get", options.challenge, call);
    const authData = authenticatorDataFor(
      {
        rpId: call.rpId ?? rpId,
        signCount: call.signCount ?? credential.signCount,
        ...flagsFor(options.userVerification, call),
      },
      call,
    );
    // Section 6.3.3: a discoverable credential always names its user.
    const own = credential.discoverable ? base64url(credential.userHandle) : null;
    const userHandle = call.userHandle === undefined ? own : call.userHandle;
    return credentialJson(credential.id, attachment, {
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authData),
      signature: base64url(signatureOf(credential, authData, clientData, call)),
      ...(userHandle === null ? {} : { userHandle }),
    });
  }

  return { credentials, create, get };
}

function clientDataFor(type: string, challenge: string, call: Overrides & { origin: string }): Buffer {
  const data = {
    type: call.type ?? type,
    challenge: call.challenge ?? challenge,
    origin: call.origin,
    crossOrigin: call.crossOrigin ?? false,
    ...(call.topOrigin === undefined ? {} : { topOrigin: call.topOrigin }),
  };
  return call.clientData ? Buffer.from(call.clientData(data)) : clientDataJson(data, call.byteOrderMark);
}

function authenticatorDataFor(data: Parameters<typeof authenticatorData>[0], call: Overrides): Buffer {
  const bytes = authenticatorData({ ...data, ...(call.extensions ? { extensions: call.extensions } : {}) });
  return Buffer.concat([bytes, call.authenticatorDataTail ?? Buffer.alloc(0)]);
}

function signatureOf(credential: Credential, authData: Buffer, clientData: Buffer, call: Overrides): Buffer {
  const signature = signWith(credential.key, signedBytes(authData, clientData));
  // The last byte is part of the number s or of the raw signature, so the encoding stays valid.
  if (call.brokenSignature) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
  return signature;
}
