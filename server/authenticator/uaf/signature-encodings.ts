import { type DerItem, derItem, derItems } from "../../webauthn/formats/der.ts";

/** Forms of DER that signatures are wrapped in: FIDO Registry of Predefined Values, section 3.6.1. */

/**
 * The signature within an octet string. Those of RSA keys are long enough for their length always to take two bytes.
 *
 * @throws Error for anything else
 */
export function unwrappedOctets(wrapped: Buffer): Buffer {
  const length = wrapped.length - 4;
  const head = Buffer.of(0x04, 0x82, length >> 8, length & 0xff);
  if (!wrapped.subarray(0, 4).equals(head)) throw new Error("not an octet string of such a length");
  return wrapped.subarray(4);
}

/**
 * R and S out of a sequence, read as if no number could be negative, one after the other and each as long as it can
 * be.
 *
 * @param size bytes of the longest number
 * @throws Error when there are not two, or one is longer
 */
export function unsignedNumbers(sequence: Buffer, size: number): Buffer {
  const outer = derItem(sequence);
  const [r, s, ...others] = derItems(outer.content);
  const shaped = is(outer, 16) && r && is(r, 2) && s && is(s, 2) && others.length === 0;
  if (!shaped) throw new Error("not a sequence of two numbers");
  return Buffer.concat([filled(r.content, size), filled(s.content, size)]);
}

const is = (item: DerItem, tag: number) => item.tagClass === "universal" && item.tag === tag;

function filled(number: Buffer, size: number): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.alloc(0) : number.subarray(first);
  return Buffer.concat([Buffer.alloc(size - digits.length), digits]);
}
