import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { type Drawing, draw } from "./drawing.fixture.tsx";

/** Streams that the page has opened, newest last. */
let streams: Stream[] = [];

/** The part of `EventSource` that the page uses. */
class Stream extends EventTarget {
  static readonly CLOSED = 2;
  readonly url: string;
  readyState = 1;
  constructor(url: string) {
    super();
    this.url = url;
    streams.push(this);
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
  emit(data: string) {
    return act(async () => {
      this.dispatchEvent(new MessageEvent("status", { data }));
    });
  }
  /** A reconnection, or a final failure where `state` says so. */
  fail(state: number) {
    this.readyState = state;
    return act(async () => {
      this.dispatchEvent(new Event("error"));
    });
  }
}

const statusEvent = (status: string) => JSON.stringify({ id: "x", status });
const pollAnswer = (status: string) => Response.json({ status });
const fetched = vi.fn<(url: string, options: RequestInit) => Promise<Response>>();

beforeEach(() => {
  streams = [];
  fetched.mockReset().mockImplementation(() => new Promise(() => {}));
  vi.stubGlobal("EventSource", Stream);
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const waiting = states.login_authenticator;
const href = String(waiting.payload.events_href);

/** The flow server's answer to a step from an outdated page. */
const rejected: FlowState = {
  ...waiting,
  name: "error",
  status: 403,
  payload: {},
  actions: {},
  error: { code: "operation_not_permitted_error", message: "" },
};

/** The same with another request. */
function renewed(more: Partial<FlowState> = {}): FlowState {
  return { ...waiting, payload: { ...waiting.payload, events_href: "/next?token=2" }, ...more };
}

async function drawWaiting(state: FlowState = waiting, drawing: Drawing = {}) {
  const page = draw(state, drawing);
  await waitFor(() => expect(streams).toHaveLength(1));
  const [stream] = streams as [Stream];
  return { ...page, stream };
}

describe("a page that waits for an authenticator", () => {
  test("shows the QR code, reports that it waits, and offers the alternatives", async () => {
    const { stream } = await drawWaiting();
    expect(stream.url).toBe(href);
    expect(screen.getByRole("img").getAttribute("src")).toBe(waiting.payload.qr_image_source);
    expect(screen.getByRole("status").textContent).toBe(en.page.waitingForAuthenticator);
    for (const name of ["I have confirmed", /code of six digits/, /security key/, "Back"]) {
      expect(screen.getByRole("button", { name })).toBeDefined();
    }
  });

  test.each(["OK", "FAILED"])("submits an answer automatically, once: %s", async (status) => {
    const { server, stream } = await drawWaiting(waiting, { answers: [states.success] });
    await stream.emit(statusEvent("PENDING"));
    expect(server.act).not.toHaveBeenCalled();
    await stream.emit(statusEvent(status));
    await stream.emit(statusEvent(status));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "authenticator_verify", 7, {});
    expect(stream.readyState).toBe(Stream.CLOSED);
  });

  test("requests the status below the address of its tenant", async () => {
    const { stream } = await drawWaiting(waiting, { base: "/t/acme" });
    expect(stream.url).toBe(`/t/acme${href}`);
  });

  test("waits for the next request, and reports that the last one failed", async () => {
    const error = { code: "authenticator_request_failed", message: "" };
    const { server, stream } = await drawWaiting(waiting, {
      answers: [renewed({ status: 401, error }), states.success],
    });
    await stream.emit(statusEvent("FAILED"));
    expect(await screen.findByText(en.errors.authenticator_request_failed)).toBeDefined();
    await waitFor(() => expect(streams).toHaveLength(2));
    expect(streams[1]?.url).toBe("/next?token=2");
    await streams[1]?.emit(statusEvent("OK"));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledTimes(2);
  });

  test.each<[string, FlowState | Error]>([
    ["a step without an answer", new Error("no answer")],
    ["a step rejected because another tab changed the state", rejected],
  ])("submits an answer again after %s", async (_, first) => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { server, stream } = await drawWaiting(waiting, { answers: [first, waiting, states.success] });
    await stream.emit(statusEvent("OK"));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
    await act(() => vi.advanceTimersByTimeAsync(1000));
    await waitFor(() => expect(streams).toHaveLength(2));
    await streams[1]?.emit(statusEvent("OK"));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledTimes(2);
  });

  test("submits the same answer at most three times", async () => {
    const error = { code: "authenticator_request_pending", message: "" };
    const pending = () => ({ ...waiting, status: 400, error });
    const { server } = await drawWaiting(waiting, {
      answers: [pending(), pending(), pending(), states.success],
    });
    for (let times = 1; times <= 3; times += 1) {
      await waitFor(() => expect(streams).toHaveLength(times));
      await streams.at(-1)?.emit(statusEvent("OK"));
      await screen.findByText(en.errors.authenticator_request_pending);
    }
    expect(server.act).toHaveBeenCalledTimes(3);
    expect(streams).toHaveLength(3);
    expect(screen.getByRole("button", { name: "I have confirmed" })).toBeDefined();
  });

  test("renews an expired request without a notice and without touching typed text", async () => {
    const { server, stream, user } = await drawWaiting(waiting, { answers: [renewed()] });
    await user.click(screen.getByText("Use a recovery code"));
    await user.type(screen.getByLabelText("Recovery code"), "AB3D-");
    await stream.emit(statusEvent("INVALIDATED"));
    await waitFor(() => expect(streams).toHaveLength(2));
    expect(server.act).not.toHaveBeenCalled();
    expect(server.current).toHaveBeenCalledTimes(2);
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByLabelText<HTMLInputElement>("Recovery code").value).toBe("AB3D-");
  });

  test("does not reopen the stream of a request that was renewed", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { stream } = await drawWaiting(waiting, { answers: [renewed()] });
    await stream.emit(statusEvent("INVALIDATED"));
    await waitFor(() => expect(streams).toHaveLength(2));
    await act(() => vi.advanceTimersByTimeAsync(60_000));
    expect(streams.map(({ url }) => url)).toEqual([href, "/next?token=2"]);
  });

  test("A70 sends no new request while the page is hidden", async () => {
    const { server, stream } = await drawWaiting(waiting, { answers: [renewed()] });
    const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    await stream.emit(statusEvent("INVALIDATED"));
    expect(server.current).toHaveBeenCalledTimes(1);
    visibility.mockReturnValue("visible");
    await act(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await waitFor(() => expect(streams).toHaveLength(2));
  });

  test("A70 sends no new request while the user is inactive", async () => {
    const another = (number: number) => ({
      ...waiting,
      payload: { ...waiting.payload, events_href: `/next?token=${number}` },
    });
    const { server } = await drawWaiting(waiting, { answers: [1, 2, 3, 4, 5].map(another) });
    for (let expired = 1; expired <= 4; expired += 1) {
      await streams.at(-1)?.emit(statusEvent("INVALIDATED"));
      await waitFor(() => expect(streams).toHaveLength(expired + 1));
    }
    await streams.at(-1)?.emit(statusEvent("INVALIDATED"));
    const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    // Leaving the page is not a sign of activity.
    await act(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
    });
    expect(server.current).toHaveBeenCalledTimes(5);
    visibility.mockReturnValue("visible");
    await act(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
    });
    await waitFor(() => expect(streams).toHaveLength(6));
  });

  test("reopens the stream when the page becomes visible", async () => {
    const { server, stream } = await drawWaiting(waiting, { answers: [states.success] });
    await act(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
    });
    expect(streams).toHaveLength(2);
    expect(stream.readyState).toBe(Stream.CLOSED);
    await streams[1]?.emit(statusEvent("OK"));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledTimes(1);
  });

  test("retries a renewal that did not reach the server", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { server, stream } = await drawWaiting(waiting, { answers: [new Error("no answer"), renewed()] });
    await stream.emit(statusEvent("INVALIDATED"));
    await waitFor(() => expect(server.current).toHaveBeenCalledTimes(2));
    await act(() => vi.advanceTimersByTimeAsync(5000));
    await waitFor(() => expect(streams).toHaveLength(2));
    await streams[1]?.emit(statusEvent("INVALIDATED"));
    await waitFor(() => expect(server.current).toHaveBeenCalledTimes(3));
  });

  test("stops when another action is performed, and when the page closes", async () => {
    const { stream, user, unmount } = await drawWaiting(waiting, { answers: [states.login_otp, renewed()] });
    await user.click(screen.getByRole("button", { name: /code of six digits/ }));
    await screen.findByRole("heading", { name: en.states.login_otp.title });
    expect(stream.readyState).toBe(Stream.CLOSED);
    await user.click(screen.getByRole("button", { name: "Back" }));
    await waitFor(() => expect(streams).toHaveLength(2));
    unmount();
    expect(streams[1]?.readyState).toBe(Stream.CLOSED);
  });
});

describe("polling without a stream", () => {
  const answerPolls = (...answers: (Response | Error)[]) => {
    for (const answer of answers) {
      if (answer instanceof Error) fetched.mockRejectedValueOnce(answer);
      else fetched.mockResolvedValueOnce(answer);
    }
    vi.useFakeTimers({ shouldAdvanceTime: true });
  };

  test.each<[string, typeof Stream | undefined, () => Promise<void>]>([
    ["the browser does not support streams", undefined, async () => {}],
    ["the response is not an event stream", Stream, async () => streams[0]?.fail(Stream.CLOSED)],
    [
      "the stream sends no status",
      Stream,
      async () => void (await act(() => vi.advanceTimersByTimeAsync(10_000))),
    ],
  ])("polls the status when %s", async (_, eventSource, trigger) => {
    answerPolls(
      pollAnswer("PENDING"),
      new Error("offline"),
      new Response(null, { status: 503 }),
      pollAnswer("OK"),
    );
    vi.stubGlobal("EventSource", eventSource);
    const { server } = draw(waiting, { answers: [states.success] });
    await waitFor(() => expect(eventSource ? streams : fetched.mock.calls).toHaveLength(1));
    await trigger();
    for (let tries = 0; tries < 4; tries += 1) await act(() => vi.advanceTimersByTimeAsync(5000));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(fetched.mock.calls.map(([url]) => url)).toEqual(Array(4).fill(href));
    expect(server.act).toHaveBeenCalledTimes(1);
  });

  test("does not poll while the browser reconnects an interrupted stream", async () => {
    const { stream } = await drawWaiting();
    await stream.fail(0);
    expect(fetched).not.toHaveBeenCalled();
    expect(streams).toHaveLength(1);
  });

  test("treats an unknown request as expired", async () => {
    answerPolls(new Response(null, { status: 404 }));
    const { server, stream } = await drawWaiting(waiting, { answers: [renewed()] });
    await stream.fail(Stream.CLOSED);
    expect(server.current).toHaveBeenCalledTimes(1);
    await act(() => vi.advanceTimersByTimeAsync(2000));
    await waitFor(() => expect(streams).toHaveLength(2));
    expect(server.act).not.toHaveBeenCalled();
  });

  test("polls the status when a reopened stream sends no status", async () => {
    answerPolls(pollAnswer("OK"));
    const { server, stream } = await drawWaiting(waiting, { answers: [states.success] });
    await stream.emit(statusEvent("PENDING"));
    await act(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
    });
    expect(streams).toHaveLength(2);
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledTimes(1);
  });

  test.each(["no JSON", "null", '{"status":7}'])("ignores a malformed status: %s", async (data) => {
    const { server, stream } = await drawWaiting(waiting, { answers: [states.success] });
    await stream.emit(data);
    expect(server.act).not.toHaveBeenCalled();
    await stream.emit(statusEvent("OK"));
    await screen.findByRole("heading", { name: "You are signed in" });
  });
});

test("shows no request to scan a code during a wait after a failure", async () => {
  const error = { code: "authenticator_request_failed", message: "" };
  draw({ ...states.login_authenticator_too_many, status: 401, error });
  expect(screen.getByRole("alert").textContent).toMatch(/^Your phone did not confirm\. Wait a moment/);
});

test("reports that the next code is delayed, and the button counts down", async () => {
  draw(states.login_authenticator_too_many);
  expect(screen.queryByRole("img")).toBeNull();
  expect(streams).toEqual([]);
  expect(screen.getByRole("alert").textContent).toMatch(/^There were many of these codes/);
  const button = screen.getByRole("button", { name: /^New code in 0:4/ });
  expect(button.getAttribute("aria-disabled")).toBe("true");
});
