import { randomBytes } from "node:crypto";
import { authenticationAssertion, publicKeyBytes, registrationAssertion, sha256 } from "./assertions.ts";
import type { FinalChallengeParams, Overrides, StoredKey, UafCall, UafSettings } from "./call.ts";
import { keyFormatOf, makeUafKey } from "./keys.ts";
import {
  checkFacet,
  checkRequest,
  chosenKeys,
  type Header,
  readMessage,
  shownTransaction,
  UafClientError,
  type UafDeregistration,
  type UafRequest,
} from "./requests.ts";
import { tags } from "./tlv.ts";

/**
 * UAF client, ASM and authenticator in software (FIDO UAF 1.1 Protocol Specification, sections 3.4 to 3.6; Authenticator
 * Commands, section 6.2). It shares no code with the verification of its responses, and can produce any invalid one.
 */
export interface UafAuthenticator {
  /** Its keys, oldest first. */
  readonly keys: StoredKey[];
  /**
   * Creates a key.
   *
   * @param request messages as the server sent them, a JSON array
   * @returns the response, a JSON array of one message
   * @throws UafClientError if a client would reject the request
   */
  register(request: string, call: UafCall): string;
  /** Signs with the first key that the policy accepts. Parameters and result are those of `register`. */
  authenticate(request: string, call: UafCall): string;
  /** Deletes keys. Returns `[{}]`. */
  deregister(request: string, call: UafCall): string;
}

/** Creates an authenticator, by default like the published Android client's. */
export function createUafAuthenticator(settings: UafSettings = {}): UafAuthenticator {
  const {
    aaid = "006F#0001",
    algorithm = 0x0002,
    attestation = "surrogate",
    version = 1,
    counts = false,
    nonceLength = 8,
    maxTransactionCharacters = 200,
  } = settings;
  const { keyFormat = keyFormatOf(algorithm) } = settings;
  const keys = [...(settings.keys ?? [])];
  let registrations = 0;

  function register(text: string, call: UafCall): string {
    const request = readMessage<UafRequest>(text, "Reg");
    const { overrides = {} } = call;
    checkRequest(request);
    const appId = applicationOf(request.header, call);
    if (!overrides.ignorePolicy && keysLeft(request, appId) === null) {
      throw new UafClientError("noSuitableAuthenticator");
    }
    if (counts) registrations += 1;
    const key: StoredKey = {
      id: Buffer.from(overrides.keyId ?? randomBytes(32)),
      appId,
      username: request.username ?? "",
      privateKey: makeUafKey(algorithm),
      signCounter: 0,
    };
    const fcParams = fcParamsOf(request, appId, call);
    const assertion = registrationAssertion(
      {
        ...statementOf(key, fcParams, call),
        mode: overrides.mode ?? 1,
        keyFormat: overrides.keyFormat ?? keyFormat,
        regCounter: overrides.regCounter ?? registrations,
        publicKey: overrides.publicKey ?? publicKeyBytes(key.privateKey, keyFormat, overrides.spki),
      },
      attestation,
      { algorithm, key: key.privateKey },
      overrides,
    );
    keys.push(key);
    return responseOf(request.header, fcParams, assertion, overrides);
  }

  function authenticate(text: string, call: UafCall): string {
    const request = readMessage<UafRequest>(text, "Auth");
    const { overrides = {} } = call;
    checkRequest(request);
    const appId = applicationOf(request.header, call);
    const asked = shownTransaction(request.transaction, maxTransactionCharacters);
    const content =
      typeof overrides.transaction === "string"
        ? Buffer.from(overrides.transaction)
        : overrides.transaction === null
          ? null
          : asked;
    const left = keysLeft(request, appId);
    const key =
      overrides.key ??
      keys.find(
        (one) =>
          one.appId === appId && (overrides.ignorePolicy || left === "any" || left?.includes(idOf(one))),
      );
    if (!key) throw new UafClientError("noSuitableAuthenticator");
    if (counts) key.signCounter += 1;
    const fcParams = fcParamsOf(request, appId, call);
    const assertion = authenticationAssertion(
      {
        ...statementOf(key, fcParams, call),
        mode: overrides.mode ?? (content ? 2 : 1),
        keyId: overrides.keyId ?? key.id,
        nonce: overrides.nonce ?? randomBytes(nonceLength),
        transactionContentHash:
          overrides.transactionContentHash ?? (content ? sha256(content) : Buffer.alloc(0)),
      },
      { algorithm, key: key.privateKey },
      overrides,
    );
    return responseOf(request.header, fcParams, assertion, overrides);
  }

  function deregister(text: string, call: UafCall): string {
    const { header, authenticators } = readMessage<UafDeregistration>(text, "Dereg");
    const appId = applicationOf(header, call);
    for (const { aaid: model, keyID } of authenticators) {
      if (typeof model !== "string" || typeof keyID !== "string") throw new UafClientError("protocolError");
      const meant = (one: StoredKey) =>
        one.appId === appId && (model === "" || model === aaid) && (keyID === "" || keyID === idOf(one));
      keys.splice(0, keys.length, ...keys.filter((one) => !meant(one)));
    }
    return "[{}]";
  }

  function keysLeft({ policy }: UafRequest, appId: string) {
    const attestationType =
      attestation === "surrogate"
        ? tags.basicSurrogate
        : attestation === "ecdaa"
          ? tags.ecdaa
          : tags.basicFull;
    const held = keys.filter((one) => one.appId === appId).map(idOf);
    return chosenKeys(policy, { aaid, algorithm, attestationType }, held);
  }

  function statementOf(key: StoredKey, fcParams: string, { overrides = {}, extensions = [] }: UafCall) {
    return {
      aaid: overrides.aaid ?? aaid,
      authenticatorVersion: overrides.authenticatorVersion ?? version,
      algorithm: overrides.algorithm ?? algorithm,
      finalChallengeHash: overrides.finalChallengeHash ?? sha256(fcParams),
      keyId: key.id,
      signCounter: overrides.signCounter ?? key.signCounter,
      extensions,
    };
  }

  return { keys, register, authenticate, deregister };
}

const idOf = ({ id }: StoredKey) => id.toString("base64url");

/** Without an appID, the facet takes its place. */
function applicationOf({ appID }: Header, { facetId, trustedFacets, overrides }: UafCall): string {
  const appId = appID || facetId;
  if (!overrides?.ignorePolicy) checkFacet(appId, facetId, trustedFacets);
  return appId;
}

function fcParamsOf({ challenge }: UafRequest, appId: string, { facetId, overrides = {} }: UafCall): string {
  if (overrides.fcParams !== undefined) return overrides.fcParams;
  const right: FinalChallengeParams = { appID: appId, challenge, facetID: facetId, channelBinding: {} };
  const text = Buffer.from(JSON.stringify({ ...right, ...overrides.finalChallengeParams }));
  const unpadded = text.toString("base64url");
  return overrides.padded ? unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, "=") : unpadded;
}

function responseOf(header: Header, fcParams: string, assertion: Buffer, overrides: Overrides): string {
  const { assertionScheme = "UAFV1TLV", before = [], after = [] } = overrides;
  const own = { assertionScheme, assertion: assertion.toString("base64url") };
  return JSON.stringify([
    { header: { ...header, ...overrides.header }, fcParams, assertions: [...before, own, ...after] },
  ]);
}
