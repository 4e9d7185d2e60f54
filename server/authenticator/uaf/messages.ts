import { z } from "zod";
import { parseMember } from "../../lib/parse-member.ts";
import { parseJson, rejectedMember } from "../../lib/strict-json.ts";

/** Responses of UAF clients: dictionaries of the UAF Protocol Specification 1.1. */

export type Operation = "Reg" | "Auth" | "Dereg";

const MAX_RESPONSE_CHARACTERS = 64 * 1024;

/** The palette of a PNG alone may have 256 colours of three members each. */
const MAX_MEMBERS = 2048;

/** Assertions in one response; each costs a signature verification. */
const MAX_ASSERTIONS = 8;

const version = z.object({ major: z.int().min(0).max(0xffff), minor: z.int().min(0).max(0xffff) });

const extension = z.object({
  id: z.string().min(1).max(32),
  data: z.string(),
  fail_if_unknown: z.boolean(),
});

/** Clients send null for absent members. */
const extensions = z.array(extension).nullish();

const header = z.object({
  upv: version,
  op: z.string(),
  appID: z.string().max(512).nullish(),
  serverData: z.string().min(1).max(1536).nullish(),
  exts: extensions,
});

const assertion = z.object({ assertionScheme: z.string(), assertion: z.string(), exts: extensions });

const octet = z.int().min(0).max(0xff);
const word = z.int().min(0).max(0xffffffff);
const rgb = z.object({ r: octet, g: octet, b: octet });

/** Dictionary DisplayPNGCharacteristicsDescriptor: the PNG image header that a transaction display supports. */
const pngCharacteristics = z.object({
  width: word,
  height: word,
  bitDepth: octet,
  colorType: octet,
  compression: octet,
  filter: octet,
  interlace: octet,
  plte: z.array(rgb).nullish(),
});

export type PngCharacteristics = z.infer<typeof pngCharacteristics>;

/** Dictionary RegistrationResponse. */
export const registrationResponse = z.object({
  header,
  fcParams: z.string(),
  assertions: z
    .array(assertion.extend({ tcDisplayPNGCharacteristics: z.array(pngCharacteristics).nullish() }))
    .min(1)
    .max(MAX_ASSERTIONS),
});

export type RegistrationResponse = z.infer<typeof registrationResponse>;

/** Dictionary AuthenticationResponse. */
export const authenticationResponse = z.object({
  header,
  fcParams: z.string(),
  assertions: z.array(assertion).min(1).max(MAX_ASSERTIONS),
});

/** The members that both responses share. */
export type UafResponse = z.infer<typeof authenticationResponse>;

/** Dictionary FinalChallengeParams. See `verifyChannelBinding` for the members of the channel binding. */
export const finalChallengeParams = z.object({
  appID: z.string().max(512),
  challenge: z.string(),
  facetID: z.string().max(512),
  channelBinding: z.record(z.string(), z.unknown()).nullish(),
});

/** Dictionary UAFMessage of the UAF Application API, which some clients send as it is. */
const wrapped = z.object({ uafProtocolMessage: z.string() });

export type ReadMessage<Message> = { ok: true; message: Message } | { ok: false; details: string };

/**
 * Reads the message of a response: an array of one message, the message alone, or either as the text in a `UAFMessage`.
 *
 * @returns what is wrong if the response is too long, is none of these, or the message does not match the schema; with
 *   the name of the member, if it is a single one
 */
export function readMessage<Message>(answer: string, form: z.ZodType<Message>): ReadMessage<Message> {
  if (answer.length > MAX_RESPONSE_CHARACTERS)
    return { ok: false, details: `the message has more than ${MAX_RESPONSE_CHARACTERS} characters` };
  const outer = parseJson(answer, MAX_MEMBERS);
  const wrapping = wrapped.safeParse(outer);
  const text = wrapping.success ? wrapping.data.uafProtocolMessage : answer;
  const inner = wrapping.success ? parseJson(text, MAX_MEMBERS) : outer;
  if (inner === undefined)
    return { ok: false, details: rejectedMember(text, MAX_MEMBERS) ?? "the message is not JSON" };
  const [message, ...others] = Array.isArray(inner) ? inner : [inner];
  if (others.length > 0) return { ok: false, details: "there is more than one message" };
  const parsed = parseMember(form, message, "the message");
  return parsed.ok ? { ok: true, message: parsed.value } : parsed;
}
