import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "#server/testing/eventually";
import type { EmbeddingOptions } from "../flow/embedding.ts";
import type { FrameMessage } from "./messages.ts";
import "./embed.js";

type Embed = (
  place: string,
  options: Partial<EmbeddingOptions>,
) => { frame: HTMLIFrameElement; remove(): void };
const { embed } = (globalThis as unknown as { Stile: { embed: Embed } }).Stile;

const url = "https://login.example/t/7";

beforeEach(() => {
  document.body.innerHTML = '<div id="place"><a href="https://login.example/">Sign in</a></div>';
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

/** A frame in a page of an application, and what it reports. */
function embedded(options: Partial<EmbeddingOptions> = {}) {
  const events = { onSuccess: vi.fn(), onStateChange: vi.fn(), onError: vi.fn() };
  const { frame, remove } = embed("#place", { url, ...events, ...options });
  /** A message as the frame sends it, but for what is given. */
  const receive = (data: FrameMessage | unknown, forged: MessageEventInit = {}) =>
    window.dispatchEvent(
      new MessageEvent("message", {
        origin: "https://login.example",
        source: frame.contentWindow,
        ...forged,
        data,
      }),
    );
  return { frame, remove, receive, ...events };
}

const success: FrameMessage = { type: "stile:success", result: { kind: "code", code: "c" } };

test("the frame is that of the tenant, for this page, and takes the place of the link", () => {
  const { frame } = embedded({
    codeChallenge: "x".repeat(43),
    flow: "registration",
    language: "de",
    theme: "dark",
  });
  const { origin, pathname, searchParams } = new URL(frame.src);
  expect([origin, pathname]).toEqual(["https://login.example", "/t/7/embed"]);
  expect(Object.fromEntries(searchParams)).toEqual({
    ...{ origin: location.origin, code_challenge: "x".repeat(43) },
    ...{ flow: "registration", lang: "de", theme: "dark" },
  });
  expect(frame.allow).toBe("publickey-credentials-get; publickey-credentials-create");
  expect([...(document.querySelector("#place")?.children ?? [])]).toEqual([frame]);
});

test("the loader makes a challenge, and the verifier comes with the code", async () => {
  const { frame, receive, onSuccess } = embedded({ codeChallenge: true });
  vi.useRealTimers();
  await eventually(() => expect(frame.isConnected).toBe(true));
  receive(success);
  const [[result]] = onSuccess.mock.calls as [[{ kind: string; code: string; codeVerifier: string }]];
  expect(result).toEqual({ kind: "code", code: "c", codeVerifier: expect.stringMatching(/^[\w-]{43}$/) });
  expect(new URL(frame.src).searchParams.get("code_challenge")).toBe(
    createHash("sha256").update(result.codeVerifier).digest("base64url"),
  );
});

test("the link stays until the challenge is made", () => {
  embedded({ codeChallenge: true });
  expect(document.querySelector("#place a")).not.toBeNull();
});

test("a frame that is removed before the challenge is made does not appear", async () => {
  const { frame, remove } = embedded({ codeChallenge: true });
  const digest = vi.spyOn(crypto.subtle, "digest");
  const other = embedded({ codeChallenge: true });
  remove();
  vi.useRealTimers();
  await digest.mock.results[0]?.value;
  await eventually(() => expect(other.frame.isConnected).toBe(true));
  expect(frame.isConnected).toBe(false);
  expect(frame.src).toBe("");
  digest.mockRestore();
});

test("A103 messages of another origin, of another window, and of another form are ignored", () => {
  const { receive, onSuccess, onStateChange, onError } = embedded();
  for (const forged of [
    { origin: "https://evil.example" },
    { origin: "https://login.example.evil.example" },
    { origin: "null" },
    { source: window },
    { source: null },
  ]) {
    receive(success, forged);
    receive({ type: "stile:error", code: "forged", message: "" }, forged);
  }
  for (const data of [null, "stile:success", 7, undefined, {}, { type: "stile:unknown" }]) receive(data);
  for (const handler of [onSuccess, onStateChange, onError]) expect(handler).not.toHaveBeenCalled();
  receive(success);
  expect(onSuccess).toHaveBeenCalledTimes(1);
});

test("states and errors reach the page, and the frame has the title of its state", () => {
  const { frame, receive, onStateChange, onError } = embedded();
  receive({ type: "stile:statechange", name: "login_password" });
  receive({ type: "stile:error", code: "invalid_credentials", message: "Wrong." });
  receive({ type: "stile:title", title: "Passwort eingeben" });
  expect(onStateChange.mock.calls).toEqual([[{ name: "login_password" }]]);
  expect(onError.mock.calls).toEqual([[{ code: "invalid_credentials", message: "Wrong." }]]);
  expect(frame.title).toBe("Passwort eingeben");
});

test("the frame keeps its height where the content has room, so that clicks are not ignored", () => {
  const { frame, receive } = embedded();
  const width = vi.spyOn(frame, "clientWidth", "get").mockReturnValue(400);
  const heights = [380, 600, 700, 420, Number.NaN, -3].map((height) => {
    receive({ type: "stile:resize", height });
    return frame.style.height;
  });
  expect(heights).toEqual(["600px", "600px", "700px", "700px", "700px", "700px"]);
  width.mockReturnValue(900);
  receive({ type: "stile:resize", height: 420 });
  expect(frame.style.height).toBe("600px");
});

test("a frame that loads and says nothing is reported", () => {
  const { frame, onError } = embedded();
  frame.dispatchEvent(new Event("load"));
  vi.advanceTimersByTime(60_000);
  expect(onError.mock.calls).toEqual([[{ code: "connection_missing", message: expect.any(String) }]]);
});

test("a frame that answers in time, or is removed, is not reported", () => {
  const { frame, receive, onError, remove } = embedded();
  frame.dispatchEvent(new Event("load"));
  receive({ type: "stile:resize", height: 400 });
  vi.advanceTimersByTime(60_000);
  remove();
  receive(success);
  expect(onError).not.toHaveBeenCalled();
  const removed = embedded();
  removed.frame.dispatchEvent(new Event("load"));
  removed.remove();
  vi.advanceTimersByTime(60_000);
  expect(removed.onError).not.toHaveBeenCalled();
});
