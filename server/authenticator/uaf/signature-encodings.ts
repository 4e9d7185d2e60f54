import { type DerItem, derItem, derItems } from "../../lib/der.ts";
import { octetString } from "../../lib/der-encoding.ts";

/** DER encodings of signatures (FIDO Registry of Predefined Values, section 3.6.1). */

/**
 * Unwraps the RSA signature in an octet string.
 *
 * @throws Error if the bytes are anything else, or another encoding of one
 */
export function unwrapOctetString(wrapped: Buffer): Buffer {
  const { content } = derItem(wrapped);
  if (!octetString(content).equals(wrapped)) throw new Error("not an octet string in DER");
  return content;
}

/**
 * Concatenates R and S of a DER sequence as unsigned numbers of fixed size.
 *
 * @param size bytes of each number
 * @throws Error unless there are exactly two numbers of at most that size
 */
export function concatenateUnsigned(sequence: Buffer, size: number): Buffer {
  const outer = derItem(sequence);
  const [r, s, ...others] = derItems(outer.content);
  const shaped = is(outer, 16) && r && is(r, 2) && s && is(s, 2) && others.length === 0;
  if (!shaped) throw new Error("not a sequence of two numbers");
  return Buffer.concat([padded(r.content, size), padded(s.content, size)]);
}

const is = (item: DerItem, tag: number) => item.tagClass === "universal" && item.tag === tag;

function padded(number: Buffer, size: number): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.alloc(0) : number.subarray(first);
  return Buffer.concat([Buffer.alloc(size - digits.length), digits]);
}
