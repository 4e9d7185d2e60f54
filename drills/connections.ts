import { type ClientRequest, get } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { RunningServer } from "../server/testing/server.ts";
import { runStile } from "../server/testing/stile.ts";
import { type Drills, drill, type Findings, type Place, type Surroundings } from "./drill.ts";

/** Connections that are made at the same time. */
const AT_ONCE = 250;

/** Descriptors of a process for all else. */
const SPARE_DESCRIPTORS = 2_000;

/** Opens connections to a server, some at a time, and calls `begin` with each. */
async function openMany(server: RunningServer, count: number, begin: (socket: Socket) => Promise<void>) {
  const port = Number(new URL(server.url).port);
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - opened) }, async () => {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      // The server ends some of them.
      socket.on("error", () => {});
      await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      await begin(socket);
    });
    await Promise.all(some);
  }
  return sockets;
}

const request = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${["Host: localhost", ...headers].join("\r\n")}\r\n\r\n`;

/** Sends a request, and waits for some of its answer. */
async function ask(socket: Socket): Promise<void> {
  const answered = new Promise((resolve, reject) => socket.once("data", resolve).once("close", reject));
  socket.write(request("/health/alive"));
  await answered;
}

const isOpen = ({ destroyed, readableEnded }: Socket) => !destroyed && !readableEnded;

const countOpen = (sockets: readonly Socket[]) => sockets.filter(isOpen).length;

function end(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** Resident memory of the server, in MB. */
async function memoryOf({ metric }: Place): Promise<string> {
  return `${Math.round((await metric("max(process_memory_usage_bytes)")) / 1e6)} MB`;
}

const IDLE = 10_000;
const STREAMS = 500;

/** How long idle connections and streams are held. */
const HELD_MS = 10_000;

/** A stream of events of a request to an authenticator. */
interface Stream {
  id: string;
  text(): string;
  close(): void;
}

/** @param visitor whose address the stream comes from: one address may have a hundred */
async function openStream(server: RunningServer, key: string, visitor: number): Promise<Stream> {
  const requests = `${server.url}/authenticator/v1/uaf/requests`;
  const answer = await fetch(requests, {
    method: "POST",
    headers: { authorization: `secret ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      operation: "REG",
      userId: `user${visitor}`,
      username: `user${visitor}@example.com`,
      timeout: 300,
    }),
  });
  const { id, links } = (await answer.json()) as { id: string; links: { rel: string; href: string }[] };
  const href = links.find(({ rel }) => rel === "events")?.href ?? "";
  let text = "";
  const stream = await new Promise<ClientRequest>((resolve, reject) => {
    const headers = {
      accept: "text/event-stream",
      "x-forwarded-for": `192.0.2.${visitor % 50}`,
    };
    const asked = get(new URL(href, server.url), { agent: false, headers }, (response) => {
      response.on("data", (chunk) => (text += chunk));
      response.once("data", () => resolve(asked));
      response.on("error", () => {});
    });
    asked.on("error", reject);
  });
  return { id, text: () => text, close: () => stream.destroy() };
}

async function holdConnections(server: RunningServer, _: Surroundings, place: Place): Promise<Findings> {
  const limit = descriptorLimit();
  const idle = Math.min(IDLE, limit - STREAMS - SPARE_DESCRIPTORS);
  const { out: key } = await runStile(["keys", "create", "--interface", "authenticator"], {
    cwd: server.folder,
    env: server.environment,
  });
  const before = await memoryOf(place);
  const sockets = await openMany(server, idle, ask);
  const streams: Stream[] = [];
  for (let opened = 0; opened < STREAMS; opened += 50)
    streams.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, (_each, index) => openStream(server, key.trim(), opened + index)),
      )),
    );
  await pause(HELD_MS);
  const during = await memoryOf(place);
  const open = countOpen(sockets);
  await Promise.all(sockets.slice(0, AT_ONCE).map(ask));
  for (const { id } of streams)
    await fetch(`${server.url}/authenticator/v1/uaf/requests/${id}`, {
      method: "DELETE",
      headers: { authorization: `secret ${key.trim()}` },
    });
  await pause(1_000);
  const told = streams.filter(({ text }) => /^id: (?!PENDING)/m.test(text())).length;
  end(sockets);
  for (const { close } of streams) close();
  await pause(2_000);
  return {
    notes: [
      ...(idle < IDLE
        ? [
            `${idle} idle connections in place of ${IDLE}: a process may have ${limit} descriptors (ulimit -n)`,
          ]
        : []),
      `memory ${before} before, ${during} with the connections, ${await memoryOf(place)} after`,
    ],
    faults: [
      ...(open < idle ? [`${idle - open} idle connections were closed`] : []),
      ...(told < STREAMS ? [`${STREAMS - told} streams were not told of the end of their request`] : []),
    ],
  };
}

/** How many descriptors a process of this account may have. Node raises it to the hard limit. */
function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits: { open_files: { soft: string | number } };
  };
  const { soft } = userLimits.open_files;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

const SLOW = 500;

/** Connections whose answers are not read. */
const UNREAD = 50;

/** Time within which a server ends a slow request: what it waits for, and how often it looks. */
const PATIENCE_MS = 13_000;

/** Sends a text byte by byte, as long as its connection is open. */
function trickle(sockets: readonly Socket[], text: string): NodeJS.Timeout {
  let sent = 0;
  return setInterval(() => {
    const byte = text[sent++ % text.length] ?? "";
    for (const socket of sockets) if (isOpen(socket)) socket.write(byte);
  }, 500);
}

async function beSlow(server: RunningServer): Promise<Findings> {
  const script = await largestScript(server);
  const nothing = async () => {};
  const silent = await openMany(server, SLOW, nothing);
  const ofHeaders = await openMany(server, SLOW, async (socket) => {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  });
  const ofBodies = await openMany(server, SLOW, async (socket) => {
    const type = "Content-Type: application/json\r\nContent-Length: 60000";
    socket.write(`POST /login HTTP/1.1\r\nHost: localhost\r\n${type}\r\n\r\n{"`);
  });
  const unread = await openMany(server, UNREAD, async (socket) => {
    socket.pause();
  });
  // More than the buffers of both sockets take, and never more at once than may wait on a connection.
  for (let times = 0; times < 4; times += 1) {
    for (const socket of unread) if (isOpen(socket)) socket.write(request(script).repeat(16));
    await pause(500);
  }
  for (const socket of [...silent, ...ofHeaders, ...ofBodies]) socket.resume();
  const trickles = [trickle(ofHeaders, "slow"), trickle(ofBodies, "a")];
  await pause(PATIENCE_MS);
  for (const one of trickles) clearInterval(one);
  // A connection tells its end when it is read.
  for (const socket of unread) socket.resume();
  await pause(3_000);
  const kinds = { silent, "of headers": ofHeaders, "of bodies": ofBodies, unread };
  const left = Object.entries(kinds).map(([name, sockets]) => [name, countOpen(sockets)] as const);
  for (const sockets of Object.values(kinds)) end(sockets);
  return {
    notes: [`connections left: ${left.map(([name, open]) => `${open} ${name}`).join(", ")}`],
    faults: left.flatMap(([name, open]) => (open > 0 ? [`${open} slow connections ${name} are left`] : [])),
  };
}

/** Returns the address of a script of the page. */
async function largestScript({ url }: RunningServer): Promise<string> {
  const page = await (await fetch(url)).text();
  const scripts = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path = ""]) => path);
  const sizes = await Promise.all(
    scripts.map(async (path) => ({ path, size: (await (await fetch(url + path)).arrayBuffer()).byteLength })),
  );
  const [largest] = sizes.toSorted((one, other) => other.size - one.size);
  if (!largest) throw new Error("the page has no script");
  return largest.path;
}

const FLOODING = 200;
const FLOOD_MS = 12_000;

/** Requests of each connection a second. */
const FLOOD_RATE = 5;

const largeHeaders = Array.from({ length: 100 }, (_, index) => `X-Flood-${index}: ${"a".repeat(120)}`);
const tooLarge = Array.from({ length: 200 }, (_, index) => `X-Flood-${index}: ${"a".repeat(120)}`);
const tooMany = Array.from({ length: 1_500 }, (_, index) => `X${index}: a`);

async function flood(server: RunningServer): Promise<Findings> {
  const answers = new Map<string, number>();
  const count = (chunk: Buffer) => {
    for (const [, status = ""] of chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3})/g))
      answers.set(status, (answers.get(status) ?? 0) + 1);
  };
  const listen = async (socket: Socket) => void socket.on("data", count);
  const lasting = await openMany(server, FLOODING, listen);
  const until = performance.now() + FLOOD_MS;
  let sent = 0;
  const rejected: Socket[] = [];
  while (performance.now() < until) {
    for (const socket of lasting) if (isOpen(socket)) socket.write(request("/health/alive", ...largeHeaders));
    sent += lasting.length;
    const more = await openMany(server, AT_ONCE, async (socket) => {
      await listen(socket);
      socket.write(request("/", ...(sent % 2 === 0 ? tooLarge : tooMany)));
    });
    rejected.push(...more);
    await pause(1_000 / FLOOD_RATE);
  }
  await pause(1_000);
  const left = countOpen(rejected);
  end([...lasting, ...rejected]);
  const statuses = [...answers].toSorted().map(([status, times]) => `${times} of ${status}`);
  return {
    notes: [`${sent + rejected.length} requests; answers: ${statuses.join(", ")}`],
    faults: [
      ...(left > 0 ? [`${left} connections with too large headers are left`] : []),
      ...([...answers.keys()].some((status) => status >= "500")
        ? ["a flood was answered by 500 or more"]
        : []),
    ],
  };
}

/** Many connections, slow ones, and floods. */
export const connectionDrills: Drills = {
  "idle-connections": drill({
    done: `${IDLE} idle connections and ${STREAMS} streams of events are held`,
    alert: "StileDescriptors",
    mayMissMs: 2_000,
    surround: async () => ({ env: { STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1" }, close: async () => {} }),
    harm: holdConnections,
  }),
  "slow-clients": drill({
    done: `${3 * SLOW + UNREAD} connections send nothing, headers or bodies byte by byte, or read no answer`,
    alert: "StileConnectionsEnded",
    mayMissMs: 2_000,
    // The least that is allowed, in place of a minute.
    surround: async () => ({ env: { STILE_SERVER_SEND_TIMEOUT: "5" }, close: async () => {} }),
    harm: beSlow,
  }),
  "header-floods": drill({
    done: "connections send requests with large, too large and too many headers",
    alert: "StileConnectionsEnded",
    mayMissMs: 2_000,
    surround: async () => ({ env: {}, close: async () => {} }),
    harm: flood,
  }),
};
