import { z } from "zod";
import { parseJson } from "../../lib/strict-json.ts";

/** Answers of UAF clients, as the dictionaries of the Protocol Specification 1.1 have them. */

/** What a message is about. */
export type Operation = "Reg" | "Auth" | "Dereg";

/** Longest answer that is read, in characters. */
export const longestAnswer = 64 * 1024;

/** Most members of one: a picture's palette alone may have 256 colours of three. */
const mostMembers = 2048;

/** Most assertions in one answer: each costs a verification. */
const mostAssertions = 8;

const version = z.object({ major: z.int().min(0).max(0xffff), minor: z.int().min(0).max(0xffff) });

const extension = z.object({
  id: z.string().min(1).max(32),
  data: z.string(),
  fail_if_unknown: z.boolean(),
});

/** Clients write null for what there is not. */
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

/** How a display for transactions draws (DisplayPNGCharacteristicsDescriptor): the image header of PNG. */
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

/** RegistrationResponse */
export const registrationResponse = z.object({
  header,
  fcParams: z.string(),
  assertions: z
    .array(assertion.extend({ tcDisplayPNGCharacteristics: z.array(pngCharacteristics).nullish() }))
    .min(1)
    .max(mostAssertions),
});

export type RegistrationResponse = z.infer<typeof registrationResponse>;

/** AuthenticationResponse */
export const authenticationResponse = z.object({
  header,
  fcParams: z.string(),
  assertions: z.array(assertion).min(1).max(mostAssertions),
});

/** What the responses have in common. */
export type UafResponse = z.infer<typeof authenticationResponse>;

/** FinalChallengeParams; what it is bound to does not matter to a server that cannot check it. */
export const finalChallengeParams = z.object({
  appID: z.string().max(512),
  challenge: z.string(),
  facetID: z.string().max(512),
  channelBinding: z.record(z.string(), z.unknown()).nullish(),
});

/** As client interfaces hand messages on: dictionary UAFMessage of the Application API. */
const wrapped = z.object({ uafProtocolMessage: z.string() });

/**
 * Reads the one message of an answer: an array of it, the message alone, or either as the text that client interfaces
 * wrap.
 *
 * @returns null for anything else, and for what is too long, or no message of this form
 */
export function readMessage<Message>(answer: string, form: z.ZodType<Message>): Message | null {
  if (answer.length > longestAnswer) return null;
  const outer = parseJson(answer, mostMembers);
  const wrapping = wrapped.safeParse(outer);
  const inner = wrapping.success ? parseJson(wrapping.data.uafProtocolMessage, mostMembers) : outer;
  const messages = Array.isArray(inner) ? inner : [inner];
  const [message, ...others] = messages;
  const read = form.safeParse(message);
  return read.success && others.length === 0 ? read.data : null;
}
