import type { Attempts, CeremonyContext } from "./ceremony.ts";
import { isText } from "./payload-readers.ts";

/**
 * Waiting for a phone to answer a request, by the address that a state's payload names for it. The address tells the
 * request's status and nothing else: as server-sent events where a connection lasts, else as JSON that is held back
 * until there is news.
 */

/** `PENDING` until the phone has answered, or the request has run out. */
type Status = "PENDING" | "OK" | "FAILED" | "INVALIDATED";

type Ending = Exclude<Status, "PENDING">;

/** A stream that has not said where things stand by then is held up by something on the way. */
const patienceForStream = 10_000;

/** Pause before the next look, after an answer that came at once, and after one that did not come. */
const pauses = { quick: 2_000, failed: 5_000 };

/** A renewed state begins anew with an address of its own; if none has by then, nothing came of it. */
const patienceForRenewal = 5_000;

/** Renewals that a page is worth without a sign of anybody. */
const mostRenewals = 4;

/** A step that brings an answer may be lost, or meet one of another tab; a server that will not have it is left alone. */
const mostBringings = 3;

/** Whether there is an answer to wait for, and to bring. */
export function mayBring(href: unknown, { brought }: Pick<Attempts, "brought">): href is string {
  return isText(href) && (brought?.href !== href || brought.times < mostBringings);
}

/**
 * Waits until the phone has said yes or no. Nobody is asked to scan what has run out, so it is renewed until then.
 *
 * @param href below the base address, as the payload has it
 * @param dropped rejects with its reason once nobody waits any more
 */
export async function waitForAuthenticator(
  href: string,
  { attempts, base, renew }: Pick<CeremonyContext, "attempts" | "base" | "renew">,
  dropped: AbortSignal,
): Promise<void> {
  while ((await endingOf(base + href, dropped)) === "INVALIDATED") {
    // Each new request may ring a phone: there is none for a page that somebody has left open, or that is hidden.
    if (attempts.renewals >= mostRenewals) {
      await touched(dropped);
      attempts.renewals = 0;
    }
    await seen(dropped);
    attempts.renewals += 1;
    await renew();
    await pause(patienceForRenewal, dropped);
  }
  const times = attempts.brought?.href === href ? attempts.brought.times : 0;
  attempts.brought = { href, times: times + 1 };
}

/** How a request ends. */
async function endingOf(href: string, dropped: AbortSignal): Promise<Ending> {
  return (await streamed(href, dropped)) ?? polled(href, dropped);
}

/**
 * Null where no stream comes about, or it is given up. Whoever was in another app for a while comes back to a stream
 * that may be dead and not know it, so it is opened anew.
 */
function streamed(href: string, dropped: AbortSignal): Promise<Ending | null> {
  if (typeof EventSource !== "function") return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let source = open();
    document.addEventListener("visibilitychange", reopen);
    dropped.addEventListener("abort", drop);
    if (dropped.aborted) drop();

    function open(): EventSource {
      const opened = new EventSource(href);
      clearTimeout(timer);
      timer = setTimeout(() => settle(null), patienceForStream);
      opened.addEventListener("status", ({ data }) => {
        clearTimeout(timer);
        const status = statusOf(parsed(data));
        if (status && status !== "PENDING") settle(status);
      });
      // A browser connects again by itself, unless what was answered is no stream (HTML, 9.2.3).
      opened.addEventListener("error", () => {
        if (opened.readyState === EventSource.CLOSED) settle(null);
      });
      return opened;
    }
    function reopen(): void {
      if (document.visibilityState !== "visible") return;
      source.close();
      source = open();
    }
    function settle(ending: Ending | null): void {
      over();
      resolve(ending);
    }
    function drop(): void {
      over();
      reject(dropped.reason);
    }
    function over(): void {
      clearTimeout(timer);
      source.close();
      document.removeEventListener("visibilitychange", reopen);
      dropped.removeEventListener("abort", drop);
    }
  });
}

async function polled(href: string, dropped: AbortSignal): Promise<Ending> {
  for (;;) {
    const asked = Date.now();
    const status = await look(href, dropped);
    if (status && status !== "PENDING") return status;
    if (!status) await pause(pauses.failed, dropped);
    else if (Date.now() - asked < pauses.quick) await pause(pauses.quick, dropped);
  }
}

/** Null where nothing was learnt. A request that is not there any more can be answered no more. */
async function look(href: string, dropped: AbortSignal): Promise<Status | null> {
  try {
    const answer = await fetch(href, { headers: { accept: "application/json" }, signal: dropped });
    if (answer.status !== 401 && answer.status !== 404)
      return answer.ok ? statusOf(await answer.json()) : null;
    // Where something on the way says so of every request, there is no hurry to ask for the next one.
    await pause(pauses.quick, dropped);
    return "INVALIDATED";
  } catch (error) {
    if (dropped.aborted) throw error;
    return null;
  }
}

/** Waits, unless nobody waits any more. */
function pause(milliseconds: number, dropped: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const drop = () => {
      clearTimeout(timer);
      reject(dropped.reason);
    };
    const timer = setTimeout(() => {
      dropped.removeEventListener("abort", drop);
      resolve();
    }, milliseconds);
    dropped.addEventListener("abort", drop);
  });
}

/** Waits until somebody looks at the page. */
function seen(dropped: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    dropped.addEventListener("abort", () => {
      document.removeEventListener("visibilitychange", look);
      reject(dropped.reason);
    });
    document.addEventListener("visibilitychange", look);
    look();
  });
}

/** Waits until somebody does anything on the page. */
function touched(dropped: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    for (const sign of ["pointermove", "pointerdown", "keydown", "scroll", "visibilitychange"]) {
      document.addEventListener(
        sign,
        () => {
          over.abort();
          resolve();
        },
        { signal: over.signal },
      );
    }
    dropped.addEventListener("abort", () => {
      over.abort();
      reject(dropped.reason);
    });
  });
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

function statusOf(news: unknown): Status | null {
  const status = (news as { status?: unknown } | null)?.status;
  return statuses.find((known) => known === status) ?? null;
}

const statuses: readonly Status[] = ["PENDING", "OK", "FAILED", "INVALIDATED"];
