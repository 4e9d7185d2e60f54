// @vitest-environment jsdom
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { confirmation as en } from "#words/en/confirmation";
import { Confirmation, type ConfirmationProps } from "./confirmation.tsx";
import type { Question } from "./question-view.tsx";

const words = en;

const question: Question = {
  token: "the-token",
  application: "Heron Books",
  user: { name: "ada@example.com", displayName: "Ada" },
  transactionId: [{ text: "order-1" }],
  summary: { title: null, amount: null, labels: [{ label: "to", value: [{ text: "Grace" }] }], items: [] },
  rest: null,
  exact: [{ text: '{"to":"Grace"}' }],
  hides: false,
  returnsTo: "shop.example",
  options: { challenge: "AAAA", timeout: 300_000, rpId: "localhost" },
};

const home = "https://shop.example/?error=access_denied";
/** The circle is part of the drawing "info" and not of the tick. */
const emblem = () => (document.querySelector(".stile-emblem circle") ? "info" : "check");
const declined = { answer: "declined", redirect_to: home };

const { sign } = vi.hoisted(() => ({ sign: vi.fn() }));
vi.mock("@simplewebauthn/browser", async (original) => {
  const real = await original<typeof import("@simplewebauthn/browser")>();
  return {
    ...real,
    browserSupportsWebAuthn: () => sign.getMockImplementation() !== undefined,
    startAuthentication: sign,
  };
});

const navigate = vi.fn();
const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  history.replaceState(null, "", "/confirm?token=the-token");
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.resetAllMocks();
});

function draw(content: ConfirmationProps["content"] = { question }) {
  render(
    <Confirmation
      words={words}
      language="en"
      service="Stile"
      address="/passkeys/t/transaction/confirm"
      content={content}
      navigate={navigate}
    />,
  );
}

const title = () => screen.getByRole("heading", { level: 1 }).textContent;
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

describe("the open question", () => {
  test("A104 removes its token from the address", () => {
    draw();
    expect(location.href).not.toContain("token");
    expect(history.state).toEqual({ stileConfirmation: "the-token" });
  });

  test("sends the decline, removes the token, and redirects", async () => {
    fetched.mockResolvedValue(Response.json(declined));
    draw();
    await press(words.decline);
    await waitFor(() => expect(navigate).toHaveBeenCalledWith(home));
    const [address, request] = fetched.mock.calls[0] ?? [];
    expect([address, JSON.parse(String(request?.body))]).toEqual([
      "/passkeys/t/transaction/confirm",
      { token: "the-token", declined: true },
    ]);
    expect(title()).toBe("You declined");
    expect(screen.getByRole("link", { name: "Continue to shop.example" })).toBeDefined();
    expect(history.state).toEqual({});
  });

  test.each([words.confirm, words.decline])(
    "takes one answer: %s does nothing while one is sent",
    async (name) => {
      sign.mockImplementation(() => new Promise(() => {}));
      fetched.mockImplementation(() => new Promise(() => {}));
      draw();
      await press(words.decline);
      expect(screen.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
      await press(name);
      expect(fetched).toHaveBeenCalledTimes(1);
      expect(sign).not.toHaveBeenCalled();
    },
  );

  test("stays on the page without a redirect", async () => {
    fetched.mockResolvedValue(Response.json({ answer: "declined", redirect_to: null }));
    draw();
    await press(words.decline);
    await waitFor(() => expect(title()).toBe("You declined"));
    expect(emblem()).toBe("info");
    expect(navigate).not.toHaveBeenCalled();
    expect(document.activeElement?.tagName).toBe("H1");
  });

  test.each<[number, string]>([
    [404, words.ends.unknown.title],
    [409, words.ends.answered.title],
    [410, words.ends.expired.title],
  ])("ends on status %i", async (status, message) => {
    fetched.mockResolvedValue(Response.json({ title: "x", details: "", status }, { status }));
    draw();
    await press(words.decline);
    await waitFor(() => expect(title()).toBe(message));
  });

  test.each<[string, () => Promise<Response>, string]>([
    ["there is no answer", () => Promise.reject(new TypeError("Failed to fetch")), words.errors.offline],
    ["the service is broken", async () => new Response("", { status: 502 }), words.errors.technical],
    ["the rate limit is exceeded", async () => Response.json({}, { status: 429 }), words.errors.slow],
    ["the answer is not JSON", async () => new Response("<html>"), words.errors.technical],
    ["the answer is rejected", async () => Response.json({}, { status: 400 }), words.errors.refused],
  ])("stays open when %s", async (_, answer, message) => {
    fetched.mockImplementation(answer);
    draw();
    await press(words.decline);
    expect((await screen.findByRole("alert")).textContent).toBe(message);
    expect(title()).toBe(words.title);
    expect(screen.getByRole("button", { name: words.confirm }).hasAttribute("aria-disabled")).toBe(false);
  });

  test("reports a browser without passkeys and sends nothing", async () => {
    draw();
    await press(words.confirm);
    expect((await screen.findByRole("alert")).textContent).toBe(words.errors.unsupported);
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe("an answer without a reply", () => {
  const credential = { id: "a", type: "public-key" };
  const lost = () => Promise.reject(new TypeError("Failed to fetch"));
  const confirmed = { answer: "confirmed", redirect_to: "https://shop.example/?code=c" };
  const sent = () => fetched.mock.calls.map(([, request]) => JSON.parse(String(request?.body)));

  test("is sent a second time automatically", async () => {
    fetched.mockImplementationOnce(lost).mockResolvedValueOnce(Response.json(declined));
    draw();
    await press(words.decline);
    await waitFor(() => expect(navigate).toHaveBeenCalledWith(home));
    expect(sent()).toEqual(Array(2).fill({ token: "the-token", declined: true }));
  });

  test("is sent again on a retry without a second passkey prompt", async () => {
    sign.mockResolvedValue(credential);
    fetched.mockImplementation(lost);
    draw();
    await press(words.confirm);
    expect((await screen.findByRole("alert")).textContent).toBe(words.errors.offline);
    fetched.mockResolvedValueOnce(new Response("", { status: 502 }));
    await press(words.confirm);
    await waitFor(() => expect(screen.getByRole("alert").textContent).toBe(words.errors.technical));
    fetched.mockResolvedValueOnce(Response.json(confirmed));
    await press(words.confirm);
    await waitFor(() => expect(navigate).toHaveBeenCalledWith(confirmed.redirect_to));
    expect(sign).toHaveBeenCalledTimes(1);
    expect(sent()).toEqual(Array(4).fill({ token: "the-token", credential }));
  });

  test("is not sent again after a rejection; the passkey is prompted for again", async () => {
    sign.mockResolvedValue(credential);
    const options = { ...question.options, challenge: "BBBB" };
    fetched.mockImplementationOnce(lost).mockImplementationOnce(lost);
    fetched.mockResolvedValueOnce(Response.json({ publicKey: options }, { status: 401 }));
    fetched.mockResolvedValueOnce(Response.json(confirmed));
    draw();
    await press(words.confirm);
    await screen.findByText(words.errors.offline);
    await press(words.confirm);
    await screen.findByText(words.errors.refused);
    await press(words.confirm);
    await waitFor(() => expect(title()).toBe(words.ends.confirmed.title));
    expect(sign.mock.calls.map(([{ optionsJSON }]) => optionsJSON.challenge)).toEqual(["AAAA", "BBBB"]);
  });

  test("that confirmed is reported as a confirmation, even if the user declines afterwards", async () => {
    sign.mockResolvedValue(credential);
    fetched.mockImplementationOnce(lost).mockImplementationOnce(lost);
    fetched.mockResolvedValueOnce(Response.json(confirmed));
    draw();
    await press(words.confirm);
    await screen.findByText(words.errors.offline);
    await press(words.decline);
    await waitFor(() => expect(title()).toBe(words.ends.confirmed.title));
    expect(navigate).toHaveBeenCalledWith(confirmed.redirect_to);
  });

  test("is not reported as expired, because it may have arrived", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    sign.mockResolvedValue(credential);
    fetched.mockImplementation(lost);
    draw();
    await press(words.confirm);
    await screen.findByText(words.errors.offline);
    await vi.advanceTimersByTimeAsync(400_000);
    vi.useRealTimers();
    expect(title()).toBe(words.title);
  });

  test("can be followed by a redirect from a reloaded page", async () => {
    draw({ answered: { token: "the-token", end: "confirmed", returnsTo: "shop.example" } });
    expect([title(), location.search]).toEqual([words.ends.confirmed.title, ""]);
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockImplementation(lost);
    await press("Continue to shop.example");
    expect((await screen.findByRole("alert")).textContent).toBe(words.errors.offline);
    fetched.mockResolvedValueOnce(Response.json(confirmed));
    await press("Continue to shop.example");
    await waitFor(() => expect(navigate).toHaveBeenCalledWith(confirmed.redirect_to));
    expect(sent()).toEqual(Array(3).fill({ token: "the-token", resume: true }));
    expect(history.state).toEqual({});
  });

  test("is reported as answered once the redirect has expired", async () => {
    fetched.mockResolvedValue(Response.json({}, { status: 409 }));
    draw({ answered: { token: "the-token", end: "declined", returnsTo: "shop.example" } });
    expect(emblem()).toBe("info");
    await press("Continue to shop.example");
    await waitFor(() => expect(title()).toBe(words.ends.answered.title));
  });
});

describe("transaction data of every kind", () => {
  test("is drawn, and invisible characters are shown", () => {
    const rest: Question["rest"] = {
      kind: "object",
      members: [
        { name: [{ text: "a" }], value: { kind: "boolean", value: true } },
        { name: [{ text: "b" }], value: { kind: "nothing" } },
        { name: [{ text: "c" }], value: { kind: "list", items: [] } },
        { name: [], value: { kind: "object", members: [] } },
        { name: [{ text: "d" }], value: { kind: "text", pieces: [] } },
        {
          name: [{ text: "e" }],
          value: { kind: "text", pieces: [{ text: "x" }, { hidden: "U+202E" }, { text: "y" }] },
        },
        {
          name: [{ text: "f" }],
          value: { kind: "text", pieces: [{ text: "1" }, { hidden: "U+000A", breaks: true }, { text: "2" }] },
        },
        { name: [{ text: "g" }], value: { kind: "number", text: "1e-7" } },
      ],
    };
    draw({ question: { ...question, rest, summary: { ...question.summary, labels: [] }, hides: true } });
    expect(screen.getAllByRole("definition").map(({ textContent }) => textContent)).toEqual([
      "yes",
      "nothing",
      "empty",
      "empty",
      "empty",
      "xU+202E character U+202E, which cannot be seen y",
      "1↵ character U+000A, which cannot be seen 2",
      "1e-7",
    ]);
    expect(screen.getByRole("alert").textContent).toBe(words.hides);
  });
});

describe("known members of transaction data", () => {
  const text = (text: string) => [{ text }];
  const summary: Question["summary"] = {
    title: text("Order 17"),
    amount: text("€149.90"),
    labels: [{ label: "to", value: text("Bergmann & Söhne") }],
    items: [
      { title: text("Seven Herons"), quantity: text("2"), amount: text("€99.90") },
      { title: text("Wrapping"), quantity: null, amount: null },
    ],
  };

  test("are a headline, and labels in the user's language", () => {
    draw({ question: { ...question, summary } });
    const agreement = within(screen.getByRole("region", { name: words.agreement }));
    expect(agreement.getByRole("heading", { level: 2 }).textContent).toBe("Order 17");
    expect(agreement.getByText("€149.90").closest("p")?.textContent).toBe("Amount €149.90");
    expect(agreement.getAllByRole("term").map(({ textContent }) => textContent)).toEqual(["To", "Items"]);
    expect(agreement.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
      "2 × Seven Herons€99.90",
      "Wrapping",
    ]);
    expect(agreement.queryByText(words.rest)).toBeNull();
  });

  test("hide no other member", () => {
    const rest: Question["rest"] = {
      kind: "object",
      members: [{ name: text("recurring"), value: { kind: "boolean", value: true } }],
    };
    draw({ question: { ...question, summary, rest } });
    const agreement = within(screen.getByRole("region", { name: words.agreement }));
    expect(agreement.getByText(words.rest)).toBeDefined();
    expect(agreement.getByText("recurring").closest("div")?.textContent).toBe("recurringyes");
  });
});

test("A104 a closed page leaves no token in the address or in the tab", () => {
  history.replaceState({ stileConfirmation: "the-token", kept: 1 }, "", "/confirm?token=the-token");
  draw({ end: "answered" });
  expect([location.search, history.state]).toEqual(["", { kept: 1 }]);
});

test("a closed page shows how the transaction ended", () => {
  for (const end of ["declined", "expired", "answered", "unknown"] as const) {
    draw({ end });
    expect(title()).toBe(words.ends[end].title);
    cleanup();
  }
});
