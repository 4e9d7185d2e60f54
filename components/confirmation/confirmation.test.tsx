// @vitest-environment jsdom
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Question } from "./asking.tsx";
import { Confirmation, type ConfirmationProps } from "./confirmation.tsx";
import { confirmationWords } from "./words/languages.ts";

const words = confirmationWords("en");

const question: Question = {
  token: "the-token",
  application: "Heron Books",
  user: { name: "ada@example.com", displayName: "Ada" },
  transactionId: [{ text: "order-1" }],
  data: {
    kind: "object",
    members: [{ name: [{ text: "to" }], value: { kind: "text", pieces: [{ text: "Grace" }] } }],
  },
  exact: [{ text: '{"to":"Grace"}' }],
  hides: false,
  returnsTo: "shop.example",
  options: { challenge: "AAAA", timeout: 300_000, rpId: "localhost" },
};

const navigate = vi.fn();
const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  history.replaceState(null, "", "/confirm?token=the-token");
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

function draw(asked: ConfirmationProps["asked"] = { question }) {
  render(
    <Confirmation
      words={words}
      language="en"
      service="Stile"
      address="/passkeys/t/transaction/confirm"
      asked={asked}
      navigate={navigate}
    />,
  );
}

const title = () => screen.getByRole("heading", { level: 1 }).textContent;
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

describe("the page that asks", () => {
  test("A104 takes its token out of the address", () => {
    draw();
    expect(location.href).not.toContain("token");
    expect(history.state).toEqual({ stileConfirmation: "the-token" });
  });

  test("sends a no, forgets the token, and takes the person back", async () => {
    fetched.mockResolvedValue(Response.json({ redirect_to: "https://shop.example/?error=access_denied" }));
    draw();
    await press(words.decline);
    await waitFor(() => expect(navigate).toHaveBeenCalledWith("https://shop.example/?error=access_denied"));
    const [address, request] = fetched.mock.calls[0] ?? [];
    expect([address, JSON.parse(String(request?.body))]).toEqual([
      "/passkeys/t/transaction/confirm",
      { token: "the-token", declined: true },
    ]);
    expect(title()).toBe("You declined");
    expect(screen.getByRole("link", { name: "Continue to shop.example" })).toBeDefined();
    expect(history.state).toEqual({});
  });

  test("stays where there is nowhere to go back to", async () => {
    fetched.mockResolvedValue(Response.json({ redirect_to: null }));
    draw();
    await press(words.decline);
    await waitFor(() => expect(title()).toBe("You declined"));
    expect(navigate).not.toHaveBeenCalled();
    expect(document.activeElement?.tagName).toBe("H1");
  });

  test.each<[number, string]>([
    [404, words.ends.unknown.title],
    [409, words.ends.answered.title],
    [410, words.ends.expired.title],
  ])("ends when it hears %i", async (status, told) => {
    fetched.mockResolvedValue(Response.json({ title: "x", details: "", status }, { status }));
    draw();
    await press(words.decline);
    await waitFor(() => expect(title()).toBe(told));
  });

  test.each<[string, () => Promise<Response>, string]>([
    ["nobody answers", () => Promise.reject(new TypeError("Failed to fetch")), words.problems.offline],
    ["the service is broken", async () => new Response("", { status: 502 }), words.problems.technical],
    ["it was too fast", async () => Response.json({}, { status: 429 }), words.problems.slow],
    ["the answer is refused", async () => Response.json({}, { status: 400 }), words.problems.refused],
  ])("goes on asking when %s", async (_, answer, told) => {
    fetched.mockImplementation(answer);
    draw();
    await press(words.decline);
    expect((await screen.findByRole("alert")).textContent).toBe(told);
    expect(title()).toBe(words.title);
    expect(screen.getByRole("button", { name: words.confirm }).hasAttribute("aria-disabled")).toBe(false);
  });

  test("says so where the browser has no passkeys, and sends nothing", async () => {
    draw();
    await press(words.confirm);
    expect((await screen.findByRole("alert")).textContent).toBe(words.problems.unsupported);
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe("data of every kind", () => {
  test("is drawn, and what cannot be seen is told to everybody", () => {
    const data: Question["data"] = {
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
    draw({ question: { ...question, data, hides: true } });
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

test("a page that is over says how it ended", () => {
  for (const end of ["declined", "expired", "answered", "unknown"] as const) {
    draw({ end });
    expect(title()).toBe(words.ends[end].title);
    cleanup();
  }
});
