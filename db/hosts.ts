import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { streamOf } from "./connection.ts";

/** The servers of one database, of which one takes writes: a primary and its standbys. */

/** Time for the answer of a server that is asked what it is. */
const ASK_TIMEOUT_MS = 1_500;

/** Time between two looks at the server in use, and between two searches for another one. */
const LOOK_INTERVAL_MS = 500;

const SEARCH_INTERVAL_MS = 200;

/** The same while none has been found for long: each search is a sign-in at each server. */
const MAX_SEARCH_INTERVAL_MS = 1_000;

/** Time that one search waits for answers. A later one takes those that come afterwards: a hanging server delays none. */
const SEARCH_MS = 300;

/** Time for other servers to answer after the first that takes writes: a former primary may have come back as one. */
const OTHERS_MS = 200;

/** Servers of one database. A search asks all of them. */
const MAX_HOSTS = 16;

const writes = ["read-write", "primary"];

/** The address of a database cannot be used. `message` says why, without its password. */
export class AddressError extends Error {
  override name = "AddressError";
}

/**
 * Returns the addresses of the servers that an address of a database names: `postgres://user@one:5432,two/database`
 * (PostgreSQL manual, 34.1.1.3). They have the rest of the address in common.
 *
 * @throws AddressError if it has parts that are not supported
 */
export function addressesOf(url: string): string[] {
  const [, scheme = "", user = "", hosts = "", rest = ""] =
    /^([a-z]+:\/\/)((?:[^/?#@]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const names = hosts.split(",");
  const [path = "", query = ""] = rest.split("?", 2);
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get("target_session_attrs");
  // Of one server there is nothing to choose, and its address may be one of a socket.
  if (names.length === 1 && (wanted === null || wanted === "any")) return [url];
  if (names.length > MAX_HOSTS) throw new AddressError(`it names more than ${MAX_HOSTS} hosts`);
  if (wanted !== null && !writes.includes(wanted))
    throw new AddressError(`target_session_attrs is ${wanted}: ${writes.join(" and ")} are supported`);
  parameters.delete("target_session_attrs");
  const common = parameters.size > 0 ? `${path}?${parameters}` : path;
  const addresses = names.map((name) => `${scheme}${user}${name}${common}`);
  if (names.length > 1 && names.some((name) => !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(name)))
    throw new AddressError("each of its hosts has to be a name or an address, with a port or without");
  return addresses;
}

/** What a server says of itself: its timeline if it takes writes, which each promotion raises (PostgreSQL manual, 25.3.5). */
type Verdict = { timeline: number } | "read_only" | Error;

const timelineOf = (verdict: Verdict | undefined) =>
  verdict !== undefined && verdict !== "read_only" && !(verdict instanceof Error) ? verdict.timeline : 0;

/** Where a database is: the server that takes its writes, as far as this process knows. */
export class DatabaseHosts {
  readonly #addresses: readonly string[];
  readonly #moved = new Set<(url: string) => void>();
  readonly #lost = new Set<() => void>();
  #url: string;
  #timer: NodeJS.Timeout | undefined;
  /** Asks the server in use. */
  #kept: pg.Client | undefined;
  /** Timelines that servers were asked for, and that no search has used yet; 0 of one that takes no writes. */
  readonly #asked = new Map<string, Promise<number>>();
  #ended = false;

  /** @throws AddressError */
  constructor(url: string) {
    this.#addresses = addressesOf(url);
    this.#url = this.#addresses[0] ?? url;
    try {
      for (const address of this.#addresses) clientOf(address);
    } catch {
      throw new AddressError("it is no address");
    }
  }

  /** The address of the server in use. */
  get url(): string {
    return this.#url;
  }

  get areSeveral(): boolean {
    return this.#addresses.length > 1;
  }

  /**
   * Finds the server that takes writes, or else one that answers. Of one server there is nothing to find.
   *
   * @returns why there is none, of each; null if there is one
   */
  async locate(): Promise<string | null> {
    if (!this.areSeveral) return null;
    const verdicts = await Promise.all(this.#addresses.map((address) => ask(address)));
    const best = Math.max(...verdicts.map(timelineOf));
    const chosen =
      this.#addresses[
        best > 0
          ? verdicts.findIndex((verdict) => timelineOf(verdict) === best)
          : verdicts.indexOf("read_only")
      ];
    if (chosen === undefined)
      return verdicts
        .map((verdict, index) => `${hostOf(this.#addresses[index] ?? "")}: ${messageOf(verdict)}`)
        .join("; ");
    this.#move(chosen);
    return null;
  }

  /** Calls back with the address of another server once that is in use. */
  onMove(moved: (url: string) => void): void {
    this.#moved.add(moved);
  }

  /** Calls back when the server in use takes no writes any more, before another one is found. */
  onLost(lost: () => void): void {
    this.#lost.add(lost);
  }

  /**
   * Looks from now on whether the server in use takes writes, and uses another one that does if it does not. One connection
   * is kept for that.
   */
  watch(): void {
    if (!this.areSeveral || this.#timer || this.#ended) return;
    let pauseMs = LOOK_INTERVAL_MS;
    let isLost = false;
    const look = async () => {
      const wasLost = isLost;
      if (!wasLost) {
        this.#kept ??= clientOf(this.#url);
        isLost = timelineOf(await askClient(this.#kept)) === 0;
        if (isLost) {
          for (const lost of this.#lost) lost();
          this.#letGo();
        }
      }
      if (isLost) isLost = !(await this.#search());
      if (this.#ended) return;
      pauseMs = !isLost
        ? LOOK_INTERVAL_MS
        : wasLost
          ? Math.min(pauseMs * 1.5, MAX_SEARCH_INTERVAL_MS)
          : SEARCH_INTERVAL_MS;
      this.#timer = setTimeout(look, pauseMs).unref();
    };
    this.#timer = setTimeout(look, LOOK_INTERVAL_MS).unref();
  }

  /** Ends the watch. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#letGo();
  }

  #letGo(): void {
    if (this.#kept) destroy(this.#kept);
    this.#kept = undefined;
  }

  /**
   * Uses the server with the newest timeline of those that say soon after the first that they take writes.
   *
   * @returns whether one does
   */
  async #search(): Promise<boolean> {
    const found = new Map<string, number>();
    let isOver = false;
    const answers = this.#addresses.map(async (address) => {
      const asked = this.#asked.get(address) ?? ask(address).then(timelineOf);
      this.#asked.set(address, asked);
      const timeline = await asked;
      if (isOver) return;
      this.#asked.delete(address);
      if (timeline === 0) throw new Error("it takes no writes");
      found.set(address, timeline);
    });
    const anyTakesWrites = Promise.any(answers).catch(() => {});
    await Promise.race([anyTakesWrites, pause(SEARCH_MS, undefined, { ref: false })]);
    if (found.size > 0)
      await Promise.race([Promise.allSettled(answers), pause(OTHERS_MS, undefined, { ref: false })]);
    isOver = true;
    if (found.size === 0 || this.#ended) return false;
    this.#asked.clear();
    const newest = Math.max(...found.values());
    // Of equals the one in use stays.
    const [chosen] = [...found].find(([, timeline]) => timeline === newest) ?? [];
    if (chosen !== undefined && found.get(this.#url) !== newest) this.#move(chosen);
    return true;
  }

  #move(url: string): void {
    if (url === this.#url) return;
    this.#url = url;
    for (const moved of this.#moved) moved(url);
  }
}

/** The host of an address, with its port: what a log may show of it. */
export const hostOf = (url: string) =>
  /@?([^/?#@]*)(?:[/?#]|$)/.exec(url.replace(/^[a-z]+:\/\//, ""))?.[1] ?? "";

const messageOf = (verdict: Verdict) => (verdict instanceof Error ? verdict.message : "it takes no writes");

/** A connection that asks a server what it is. Each question has its time. */
export function clientOf(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: "stile-watch",
    connectionTimeoutMillis: ASK_TIMEOUT_MS,
    query_timeout: ASK_TIMEOUT_MS,
  });
  client.on("error", () => {});
  return client;
}

const connected = new WeakSet<pg.Client>();

/** Of a primary, the first digits of the name of its log of writes. */
const question = `select case when not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off'
  then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`;

/** Asks a server what it is. A hanging one gets no further time. */
async function askClient(client: pg.Client): Promise<Verdict> {
  try {
    if (!connected.has(client)) await client.connect();
    connected.add(client);
    const { rows } = await client.query<{ timeline: number | null }>(question);
    const timeline = rows[0]?.timeline ?? null;
    return timeline === null ? "read_only" : { timeline };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function ask(url: string): Promise<Verdict> {
  const client = clientOf(url);
  const verdict = await askClient(client);
  destroy(client);
  return verdict;
}

/** Ends a connection without waiting for the server, which may hang. */
export function destroy(client: pg.Client): void {
  client.end().catch(() => {});
  setTimeout(() => streamOf(client).destroy(), ASK_TIMEOUT_MS).unref();
}
