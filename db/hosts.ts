import pg from "pg";

/** The servers of one database, of which one takes writes: a primary and its standbys. */

/** Time for the answer of a server that is asked what it is. */
const ASK_TIMEOUT_MS = 1_500;

/** Time between two looks at the server in use, and between two searches for another one. */
const LOOK_INTERVAL_MS = 500;

const SEARCH_INTERVAL_MS = 200;

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
  if (names.length > MAX_HOSTS) throw new AddressError(`it names more than ${MAX_HOSTS} hosts`);
  const [path = "", query = ""] = rest.split("?", 2);
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get("target_session_attrs");
  if (wanted !== null && !writes.includes(wanted))
    throw new AddressError(`target_session_attrs is ${wanted}: ${writes.join(" and ")} are supported`);
  parameters.delete("target_session_attrs");
  const common = parameters.size > 0 ? `${path}?${parameters}` : path;
  const addresses = names.map((name) => `${scheme}${user}${name}${common}`);
  if (names.length > 1 && names.some((name) => !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(name)))
    throw new AddressError("each of its hosts has to be a name or an address, with a port or without");
  if (!addresses.every((address) => URL.canParse(address))) throw new AddressError("it is no address");
  return names.length > 1 ? addresses : [wanted === null ? url : (addresses[0] ?? url)];
}

/** What a server says of itself. */
type Verdict = "writable" | "read_only" | Error;

/** Where a database is: the server that takes its writes, as far as this process knows. */
export class DatabaseHosts {
  readonly #addresses: readonly string[];
  readonly #moved = new Set<(url: string) => void>();
  #url: string;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** @throws AddressError */
  constructor(url: string) {
    this.#addresses = addressesOf(url);
    this.#url = this.#addresses[0] ?? url;
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
    const found = verdicts.indexOf("writable");
    const readable = verdicts.indexOf("read_only");
    const chosen = this.#addresses[found >= 0 ? found : readable];
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

  /**
   * Looks from now on whether the server in use takes writes, and uses another one that does if it does not. One connection
   * is kept for that.
   */
  watch(): void {
    if (!this.areSeveral || this.#timer || this.#ended) return;
    let kept: pg.Client | undefined;
    const look = async () => {
      const before = this.#url;
      kept ??= clientOf(before);
      const verdict = await askClient(kept);
      if (verdict !== "writable") {
        destroy(kept);
        kept = undefined;
        await this.#search();
      }
      if (this.#ended) {
        if (kept) destroy(kept);
        return;
      }
      const pauseMs = kept ? LOOK_INTERVAL_MS : this.#url === before ? SEARCH_INTERVAL_MS : 0;
      this.#timer = setTimeout(look, pauseMs).unref();
    };
    this.#timer = setTimeout(look, LOOK_INTERVAL_MS).unref();
  }

  /** Ends the watch. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** Uses the first server that says it takes writes. */
  async #search(): Promise<void> {
    const asked = this.#addresses.map(async (address) => {
      if ((await ask(address)) !== "writable") throw new Error("not writable");
      return address;
    });
    const found = await Promise.any(asked).catch(() => null);
    if (found !== null && !this.#ended) this.#move(found);
  }

  #move(url: string): void {
    if (url === this.#url) return;
    this.#url = url;
    for (const moved of this.#moved) moved(url);
  }
}

const hostOf = (url: string) => /@?([^/?#@]*)(?:[/?#]|$)/.exec(url.replace(/^[a-z]+:\/\//, ""))?.[1] ?? "";

const messageOf = (verdict: Verdict) => (verdict instanceof Error ? verdict.message : verdict);

function clientOf(url: string): pg.Client {
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

/** Asks a server what it is. A hanging one gets no further time. */
async function askClient(client: pg.Client): Promise<Verdict> {
  try {
    if (!connected.has(client)) await client.connect();
    connected.add(client);
    const { rows } = await client.query<{ writable: boolean }>(
      "select not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off' as writable",
    );
    return rows[0]?.writable ? "writable" : "read_only";
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
function destroy(client: pg.Client): void {
  client.end().catch(() => {});
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  setTimeout(() => stream.destroy(), ASK_TIMEOUT_MS).unref();
}
