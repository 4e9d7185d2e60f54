import type { UafRequest } from "./uaf-authenticator/requests.ts";

/** Requests for tests of the software authenticator, and a parser of its responses. */

export const facetId = "https://login.example";
export const appId = "https://login.example/authenticator/facets";
export const challenge = Buffer.from("a challenge of thirty-two bytes!").toString("base64url");
export const upv = { major: 1, minor: 1 };

/** Members that replace the default ones of a request. */
export type Change = Omit<Partial<UafRequest>, "header"> & { header?: object };

/** Makes a request of one message of version 1.1. */
export function requestOf(op: "Reg" | "Auth", { header, ...change }: Change = {}): string {
  const message = {
    header: { upv, op, appID: appId, ...header },
    challenge,
    ...(op === "Reg" ? { username: "ada" } : {}),
    policy: { accepted: [[{ aaid: ["006F#0001"] }]] },
    ...change,
  };
  return JSON.stringify([message]);
}

export interface TlvItem {
  tag: number;
  value: Buffer;
  /** Header included. */
  whole: Buffer;
}

/** Parses one level of TLV. */
export function read(bytes: Buffer): TlvItem[] {
  if (bytes.length === 0) return [];
  const first = readOne(bytes);
  return [first, ...read(bytes.subarray(first.whole.length))];
}

/** Parses the first item and ignores the rest. */
function readOne(bytes: Buffer): TlvItem {
  const end = 4 + bytes.readUInt16LE(2);
  if (end > bytes.length) throw new Error("an item is truncated");
  return { tag: bytes.readUInt16LE(0), value: bytes.subarray(4, end), whole: bytes.subarray(0, end) };
}

interface Answer {
  header: unknown;
  fcParams: string;
  assertions: { assertion: string; assertionScheme: string }[];
}

/** Parses the first assertion of a response. */
export function opened(text: string) {
  const [message] = JSON.parse(text) as [Answer];
  const bytes = Buffer.from(message.assertions[0]?.assertion ?? "", "base64url");
  const outer = readOne(bytes);
  const [signed, proof] = read(outer.value);
  if (!signed || !proof) throw new Error("no assertion");
  const members = read(signed.value);
  const member = (tag: number) => members.find((one) => one.tag === tag)?.value ?? Buffer.alloc(0);
  const inProof = proof.tag === 0x2e06 ? [proof] : read(proof.value);
  const signature = inProof[0]?.value ?? Buffer.alloc(0);
  return { message, bytes, outer, signed, proof, members, member, inProof, signature };
}
