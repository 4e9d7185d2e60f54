import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { eventually } from "#server/testing/eventually";
import type { EmbeddingOptions } from "../flow/embedding.ts";
import type { FrameMessage } from "./messages.ts";
import "./loader.ts";

type Embed = (
  place: string,
  options: Partial<EmbeddingOptions>,
) => { frame: HTMLIFrameElement; remove(): void };
type SignIn = (options: object) => Promise<{ frame: HTMLIFrameElement } | null>;
const { embed, signIn } = (globalThis as unknown as { Stile: { embed: Embed; signIn: SignIn } }).Stile;

const url = "https://login.example/t/7";

beforeEach(() => {
  document.body.innerHTML = '<div id="place"><a href="https://login.example/">Sign in</a></div>';
  vi.useFakeTimers();
});
afterEach(() => {
  document.body.innerHTML = "";
  vi.useRealTimers();
});

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
    origin: location.origin,
    code_challenge: "x".repeat(43),
    flow: "registration",
    lang: "de",
    theme: "dark",
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

/** The part that `signIn` loads does not arrive, as where the browser has nothing at hand. */
async function withoutPart(): Promise<void> {
  vi.useRealTimers();
  await eventually(() => expect(document.head.querySelector("script[type=module]")).not.toBeNull());
  const script = document.head.querySelector<HTMLScriptElement>("script[type=module]");
  expect(script?.integrity).toBe("sha384-digest");
  expect(script?.crossOrigin).toBe("anonymous");
  expect(new URL(script?.src ?? "").pathname).toBe("/embed-sign-in.js");
  script?.dispatchEvent(new Event("error"));
  script?.remove();
}

test("a button of the page opens the frame where nothing is at hand, once for two clicks", async () => {
  vi.stubGlobal("SIGN_IN_INTEGRITY", "sha384-digest");
  const options = { url, place: "#place", codeChallenge: "x".repeat(43) };
  const attempts = [signIn(options), signIn(options)];
  expect(document.querySelector("iframe")).toBeNull();
  await withoutPart();
  const [first, second] = await Promise.all(attempts);
  expect(first?.frame).toBe(second?.frame);
  expect([...document.querySelectorAll("iframe")]).toEqual([first?.frame]);
  expect(new URL(first?.frame.src ?? "").pathname).toBe("/t/7/embed");
  // The next click tries again.
  const again = signIn(options);
  await withoutPart();
  expect((await again)?.frame).not.toBe(first?.frame);
  vi.unstubAllGlobals();
});

test("a button of the page that has no place for the frame says so before it asks for anything", async () => {
  await expect(signIn({ url })).rejects.toThrow(/place/);
  expect(document.head.querySelector("script[type=module]")).toBeNull();
});
