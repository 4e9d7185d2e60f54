import { randomBytes } from "node:crypto";
import { authenticationAssertion, publicKeyBytes, registrationAssertion, sha256 } from "./assertions.ts";
import type { FinalChallengeParams, HeldKey, Instead, UafCall, UafSettings } from "./call.ts";
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
 * A phone's UAF client, ASM and authenticator, in software, after FIDO UAF 1.1 (Protocol Specification, sections 3.4 to
 * 3.6; Authenticator Commands, section 6.2). It shares no code with what verifies its answers, and it can give each
 * wrong answer.
 */
export interface UafAuthenticator {
  /** What it holds, oldest first. */
  readonly keys: HeldKey[];
  /**
   * Makes a key.
   *
   * @param request messages as the server sent them, a JSON array
   * @returns the response, a JSON array of one message
   * @throws UafClientError where a client would refuse
   */
  register(request: string, call: UafCall): string;
  /** Signs with the first key that the policy leaves. Takes, gives and throws as `register` does. */
  authenticate(request: string, call: UafCall): string;
  /** Forgets keys. There is nothing to answer: `[{}]`. */
  deregister(request: string, call: UafCall): string;
}

/** Makes an authenticator; without settings, the published Android client's. */
export function createUafAuthenticator(settings: UafSettings = {}): UafAuthenticator {
  const {
    aaid = "006F#0001",
    algorithm = 0x0002,
    attestation = "surrogate",
    version = 1,
    counts = false,
    nonceLength = 8,
  } = settings;
  const { keyFormat = keyFormatOf(algorithm) } = settings;
  const keys = [...(settings.keys ?? [])];
  let registrations = 0;

  function register(text: string, call: UafCall): string {
    const request = readMessage<UafRequest>(text, "Reg");
    const { instead = {} } = call;
    checkRequest(request);
    const appId = applicationOf(request.header, call);
    if (!instead.unasked && keysLeft(request, appId) === null) {
      throw new UafClientError("noSuitableAuthenticator");
    }
    if (counts) registrations += 1;
    const key: HeldKey = {
      id: Buffer.from(instead.keyId ?? randomBytes(32)),
      appId,
      username: request.username ?? "",
      privateKey: makeUafKey(algorithm),
      signCounter: 0,
    };
    const fcParams = fcParamsOf(request, appId, call);
    const assertion = registrationAssertion(
      {
        ...statementOf(key, fcParams, call),
        mode: instead.mode ?? 1,
        keyFormat: instead.keyFormat ?? keyFormat,
        regCounter: instead.regCounter ?? registrations,
        publicKey: instead.publicKey ?? publicKeyBytes(key.privateKey, keyFormat, instead.spki),
      },
      attestation,
      { algorithm, key: key.privateKey },
      instead,
    );
    keys.push(key);
    return responseOf(request.header, fcParams, assertion, instead);
  }

  function authenticate(text: string, call: UafCall): string {
    const request = readMessage<UafRequest>(text, "Auth");
    const { instead = {} } = call;
    checkRequest(request);
    const appId = applicationOf(request.header, call);
    const asked = shownTransaction(request.transaction);
    const content =
      typeof instead.transaction === "string"
        ? Buffer.from(instead.transaction)
        : instead.transaction === null
          ? null
          : asked;
    const left = keysLeft(request, appId);
    const key =
      instead.key ??
      keys.find(
        (one) => one.appId === appId && (instead.unasked || left === "any" || left?.includes(idOf(one))),
      );
    if (!key) throw new UafClientError("noSuitableAuthenticator");
    if (counts) key.signCounter += 1;
    const fcParams = fcParamsOf(request, appId, call);
    const assertion = authenticationAssertion(
      {
        ...statementOf(key, fcParams, call),
        mode: instead.mode ?? (content ? 2 : 1),
        keyId: instead.keyId ?? key.id,
        nonce: instead.nonce ?? randomBytes(nonceLength),
        transactionContentHash:
          instead.transactionContentHash ?? (content ? sha256(content) : Buffer.alloc(0)),
      },
      { algorithm, key: key.privateKey },
      instead,
    );
    return responseOf(request.header, fcParams, assertion, instead);
  }

  function deregister(text: string, call: UafCall): string {
    const { header, authenticators } = readMessage<UafDeregistration>(text, "Dereg");
    const appId = applicationOf(header, call);
    for (const { aaid: model, keyID } of authenticators) {
      if (typeof model !== "string" || typeof keyID !== "string") throw new UafClientError("protocolError");
      const meant = (one: HeldKey) =>
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

  function statementOf(key: HeldKey, fcParams: string, { instead = {}, extensions = [] }: UafCall) {
    return {
      aaid: instead.aaid ?? aaid,
      authenticatorVersion: instead.authenticatorVersion ?? version,
      algorithm: instead.algorithm ?? algorithm,
      finalChallengeHash: instead.finalChallengeHash ?? sha256(fcParams),
      keyId: key.id,
      signCounter: instead.signCounter ?? key.signCounter,
      extensions,
    };
  }

  return { keys, register, authenticate, deregister };
}

const idOf = ({ id }: HeldKey) => id.toString("base64url");

/** Without an appID the application is its own. */
function applicationOf({ appID }: Header, { facetId, trustedFacets, instead }: UafCall): string {
  const appId = appID || facetId;
  if (!instead?.unasked) checkFacet(appId, facetId, trustedFacets);
  return appId;
}

function fcParamsOf({ challenge }: UafRequest, appId: string, { facetId, instead = {} }: UafCall): string {
  if (instead.fcParams !== undefined) return instead.fcParams;
  const right: FinalChallengeParams = { appID: appId, challenge, facetID: facetId, channelBinding: {} };
  const text = Buffer.from(JSON.stringify({ ...right, ...instead.finalChallengeParams }));
  const unpadded = text.toString("base64url");
  return instead.padded ? unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, "=") : unpadded;
}

function responseOf(header: Header, fcParams: string, assertion: Buffer, instead: Instead): string {
  const { assertionScheme = "UAFV1TLV", before = [], after = [] } = instead;
  const own = { assertionScheme, assertion: assertion.toString("base64url") };
  return JSON.stringify([
    { header: { ...header, ...instead.header }, fcParams, assertions: [...before, own, ...after] },
  ]);
}
