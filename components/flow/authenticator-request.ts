import type { CeremonyContext } from "./ceremony.ts";

/**
 * Waits for an authenticator to answer a request, at the address in the payload of the state. The address gives
 * only the status of the request: as server-sent events where a connection lasts, else as JSON by long polling.
 */

/** `PENDING` until the authenticator has answered or the request has expired. */
type Status = "PENDING" | "OK" | "FAILED" | "INVALIDATED";

type FinalStatus = Exclude<Status, "PENDING">;

/** A stream without a status within this time is considered blocked by an intermediary. */
const STREAM_TIMEOUT_MS = 10_000;

/** Pause before the next poll: `quick` after an immediate answer, `failed` after an error. */
const POLL_DELAYS_MS = { quick: 2_000, failed: 5_000 };

/** A renewed state restarts the wait with a new address; after this time the renewal is considered failed. */
const RENEWAL_TIMEOUT_MS = 5_000;

/** Renewals without a sign of user activity. */
const MAX_RENEWALS = 4;

/**
 * Waits until the authenticator has confirmed or declined. Expired requests are renewed, so that the displayed
 * code stays valid.
 *
 * @param href relative to the base address, as in the payload
 * @param signal aborts the wait and rejects with its reason
 */
export async function waitForAuthenticator(
  href: string,
  { attempts, base, renew }: Pick<CeremonyContext, "attempts" | "base" | "renew">,
  signal: AbortSignal,
): Promise<void> {
  while ((await finalStatusOf(base + href, signal)) === "INVALIDATED") {
    // A new request may notify the authenticator, so there is none for an abandoned or hidden page.
    if (attempts.renewals >= MAX_RENEWALS) {
      await userActivity(signal);
      attempts.renewals = 0;
    }
    await visible(signal);
    attempts.renewals += 1;
    await renew();
    await pause(RENEWAL_TIMEOUT_MS, signal);
  }
  const times = attempts.submitted?.href === href ? attempts.submitted.times : 0;
  attempts.submitted = { href, times: times + 1 };
}

/** The final status of a request. */
async function finalStatusOf(href: string, signal: AbortSignal): Promise<FinalStatus> {
  return (await readStream(href, signal)) ?? poll(href, signal);
}

/**
 * Null if no stream can be opened or it is blocked. A stream may be dead without notice after the page was hidden,
 * so it is reopened.
 */
function readStream(href: string, signal: AbortSignal): Promise<FinalStatus | null> {
  if (typeof EventSource !== "function") return Promise.resolve(null);
  return abortable(signal, (resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let source = open();
    document.addEventListener("visibilitychange", reopen);

    function open(): EventSource {
      const opened = new EventSource(href);
      clearTimeout(timer);
      timer = setTimeout(() => resolve(null), STREAM_TIMEOUT_MS);
      opened.addEventListener("status", ({ data }) => {
        clearTimeout(timer);
        const status = statusOf(parsed(data));
        if (status && status !== "PENDING") resolve(status);
      });
      // The browser reconnects by itself unless the response is not an event stream (HTML, 9.2.3).
      opened.addEventListener("error", () => {
        if (opened.readyState === EventSource.CLOSED) resolve(null);
      });
      return opened;
    }
    function reopen(): void {
      if (document.visibilityState !== "visible") return;
      source.close();
      source = open();
    }
    return () => {
      clearTimeout(timer);
      source.close();
      document.removeEventListener("visibilitychange", reopen);
    };
  });
}

async function poll(href: string, signal: AbortSignal): Promise<FinalStatus> {
  for (;;) {
    const startedAt = Date.now();
    const status = await fetchStatus(href, signal);
    if (status && status !== "PENDING") return status;
    if (!status) await pause(POLL_DELAYS_MS.failed, signal);
    else if (Date.now() - startedAt < POLL_DELAYS_MS.quick) await pause(POLL_DELAYS_MS.quick, signal);
  }
}

/** Null if the status is unknown. A request that no longer exists is `INVALIDATED`. */
async function fetchStatus(href: string, signal: AbortSignal): Promise<Status | null> {
  try {
    const answer = await fetch(href, { headers: { accept: "application/json" }, signal });
    if (answer.status !== 401 && answer.status !== 404)
      return answer.ok ? statusOf(await answer.json()) : null;
    // An intermediary may answer every request like this, so the next request is delayed.
    await pause(POLL_DELAYS_MS.quick, signal);
    return "INVALIDATED";
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/** Waits, and rejects on abort. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return abortable(signal, (resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    return () => clearTimeout(timer);
  });
}

/** Waits until the page is visible. */
function visible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible") return Promise.resolve();
  return abortable(signal, (resolve) => {
    const check = () => {
      if (document.visibilityState === "visible") resolve();
    };
    document.addEventListener("visibilitychange", check);
    return () => document.removeEventListener("visibilitychange", check);
  });
}

/** Waits for any user input on the page. */
function userActivity(signal: AbortSignal): Promise<void> {
  return abortable(signal, (resolve) => {
    const eventNames = ["pointermove", "pointerdown", "keydown", "scroll", "visibilitychange"];
    const listening = new AbortController();
    for (const name of eventNames)
      document.addEventListener(name, () => resolve(), { signal: listening.signal });
    return () => listening.abort();
  });
}

/**
 * A promise that rejects on abort. Does not start if the signal is already aborted.
 *
 * @param start starts the wait; returns a function that stops it, called once, when the promise settles
 */
function abortable<T>(signal: AbortSignal, start: (resolve: (value: T) => void) => () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = start((value) => {
      stop();
      signal.removeEventListener("abort", abort);
      resolve(value);
    });
    function abort(): void {
      stop();
      reject(signal.reason);
    }
    signal.addEventListener("abort", abort, { once: true });
  });
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

function statusOf(event: unknown): Status | null {
  const status = (event as { status?: unknown } | null)?.status;
  return statuses.find((candidate) => candidate === status) ?? null;
}

const statuses: readonly Status[] = ["PENDING", "OK", "FAILED", "INVALIDATED"];
