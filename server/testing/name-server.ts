import { createSocket } from "node:dgram";

/** A DNS server on the loopback interface (RFC 1035) that answers every question with addresses that never last. */
export interface NameServer {
  /** Address and port, for `Resolver.setServers`. */
  address: string;
  /** Questions so far, as `A name` or `AAAA name`. */
  questions: string[];
  close(): Promise<void>;
}

const TYPES: Record<number, string> = { 1: "A", 28: "AAAA" };

/**
 * Starts it.
 *
 * @param answer returns the IPv4 addresses of a question; those of AAAA questions are always none
 */
export async function startNameServer(answer: (name: string) => string[]): Promise<NameServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"));
      at += 1 + length;
    }
    const type = TYPES[query.readUInt16BE(at + 1)] ?? "?";
    const name = labels.join(".");
    questions.push(`${type} ${name}`);
    const addresses = type === "A" ? answer(name) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) =>
      // A pointer to the question's name, type A, class IN, TTL 0, four bytes.
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
