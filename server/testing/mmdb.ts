import { isIPv4, SocketAddress } from "node:net";

/** Writes databases of IP addresses (MaxMind DB File Format Specification 2.0). It shares no code with their reader. */

/** A value of a record; numbers are unsigned, of at most 32 bits. */
export type MmdbValue = string | number | boolean | MmdbValue[] | { [name: string]: MmdbValue };

/** A node of the search tree: what follows for the bit 0, and for the bit 1. */
type Node = [Branch, Branch];
/** null: no record; a number: offset of a record in the data section. */
type Branch = Node | number | null;

/**
 * Writes a database.
 *
 * @param networks records by network, such as `192.0.2.0/24` or `2001:db8::/32`; none contains another
 * @param ipVersion of the tree; one of version 6 has IPv4 networks under `::/96`
 * @param recordSize bits
 */
export function writeMmdb(
  networks: Readonly<Record<string, MmdbValue>>,
  { ipVersion = 6, recordSize = 24 }: { ipVersion?: 4 | 6; recordSize?: 24 | 28 | 32 } = {},
): Buffer {
  const root: Node = [null, null];
  const records: Buffer[] = [];
  let size = 0;
  for (const [network, record] of Object.entries(networks)) {
    const encoded = encode(record);
    insert(root, bitsOf(network, ipVersion), size);
    records.push(encoded);
    size += encoded.length;
  }
  const nodes = nodesOf(root);
  const numbers = new Map(nodes.map((node, at) => [node, at]));
  const recordValue = (branch: Branch): number => {
    if (branch === null) return nodes.length;
    if (typeof branch === "number") return nodes.length + 16 + branch;
    return numbers.get(branch) ?? 0;
  };
  const tree = nodes.map(([zero, one]) => pair(recordValue(zero), recordValue(one), recordSize));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_780_000_000,
    database_type: "Test-City",
    description: { en: "Written by a test" },
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: recordSize,
  });
  const marker = Buffer.concat([Buffer.of(0xab, 0xcd, 0xef), Buffer.from("MaxMind.com")]);
  return Buffer.concat([...tree, Buffer.alloc(16), ...records, marker, metadata]);
}

function insert(root: Node, bits: readonly (0 | 1)[], record: number): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const next = node[bit];
    if (typeof next === "number") throw new Error("a network contains another");
    node[bit] = next ?? [null, null];
    node = node[bit] as Node;
  }
  node[bits.at(-1) ?? 0] = record;
}

/** The nodes below and including one, each before its branches. */
function nodesOf(node: Node): Node[] {
  return [node, ...node.flatMap((branch) => (Array.isArray(branch) ? nodesOf(branch) : []))];
}

function bitsOf(network: string, ipVersion: 4 | 6): (0 | 1)[] {
  const [address = "", length = ""] = network.split("/");
  const isFour = isIPv4(address);
  const bytes = isFour ? address.split(".").map(Number) : ipv6Bytes(address);
  const padded = isFour && ipVersion === 6 ? [...Array<number>(12).fill(0), ...bytes] : bytes;
  const bits = padded.flatMap((byte) => [...byte.toString(2).padStart(8, "0")]);
  const prefix = Number(length) + (padded.length - bytes.length) * 8;
  return bits.slice(0, prefix).map((bit) => (bit === "1" ? 1 : 0));
}

function ipv6Bytes(text: string): number[] {
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  const [head = "", tail] = address.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const missing = 8 - groups(head).length - groups(tail ?? "").length;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail ?? "")];
  return all.flatMap((group) => [...Buffer.from(group.padStart(4, "0"), "hex")]);
}

/** The two records of a node. With 28 bits, the byte in the middle has the high bits of both. */
function pair(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
    return bytes;
  }
  bytes.writeUIntBE(left & 0xffffff, 0, 3);
  bytes.writeUIntBE(right & 0xffffff, recordSize === 28 ? 4 : 3, 3);
  if (recordSize === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
  return bytes;
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === "string")
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === "boolean") return control(14, value ? 1 : 0);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const members = Object.entries(value);
  return Buffer.concat([
    control(7, members.length),
    ...members.flatMap(([name, member]) => [encode(name), encode(member)]),
  ]);
}

/** The control byte with type and size. Types above 7 are in a byte of their own, sizes above 28 in one or two. */
function control(type: number, size: number): Buffer {
  const extended = type > 7 ? [type - 7] : [];
  const head = type > 7 ? 0 : type << 5;
  if (size < 29) return Buffer.of(head | size, ...extended);
  if (size < 285) return Buffer.of(head | 29, ...extended, size - 29);
  return Buffer.of(head | 30, ...extended, (size - 285) >> 8, (size - 285) & 0xff);
}
