import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { flow as words } from "#words/en/flow";
import { SignOut } from "./sign-out.tsx";
import type { ViewContext } from "./view-context.ts";

const base = "https://login.example";
const next = `${base}/logout/provider?state=AAAA`;

afterEach(() => vi.unstubAllGlobals());

/** Draws the button, and presses it. */
async function signOut(
  answer: Response | Error,
  { embedded = false, ...more }: { embedded?: boolean; signedOutAddress?: string } = {},
) {
  const request = vi.fn<typeof fetch>(() =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer),
  );
  vi.stubGlobal("fetch", request);
  const [navigate, openFlow, showNotice] = [vi.fn(), vi.fn(), vi.fn()];
  const context = { words, base, flow: { showNotice }, ...(embedded ? { openFlow } : {}), ...more };
  render(<SignOut context={context as unknown as ViewContext} navigate={navigate} />);
  await userEvent.click(screen.getByRole("button", { name: "Sign out" }));
  return { asked: String(request.mock.calls[0]?.[0]), navigate, openFlow, showNotice };
}

const ended = (headers: Record<string, string> = {}) => new Response(null, { status: 204, headers });

test("a page of the service goes to the provider at which the session ends too, and else to the sign-in", async () => {
  const { asked, navigate } = await signOut(ended({ "X-Provider-Logout": next }));
  expect(asked).toBe(`${base}/logout`);
  expect(navigate.mock.calls).toEqual([[next]]);
});

test("without such a provider it goes to the sign-in, also if the session had ended", async () => {
  for (const answer of [ended(), new Response(null, { status: 401 })]) {
    const { navigate } = await signOut(answer);
    expect(navigate.mock.calls).toEqual([[base]]);
    document.body.replaceChildren();
  }
});

test("a page of an application is named as the one to return to", async () => {
  const { asked, navigate, openFlow } = await signOut(ended({ "X-Provider-Logout": next }), {
    embedded: true,
  });
  const here = encodeURIComponent(location.origin + location.pathname);
  expect(asked).toBe(`${base}/logout?redirect_to=${here}`);
  expect(navigate.mock.calls).toEqual([[next]]);
  expect(openFlow).not.toHaveBeenCalled();
});

test("a frame names the page around it instead", async () => {
  const { asked } = await signOut(ended(), { embedded: true, signedOutAddress: "https://app.example/" });
  expect(asked).toBe(`${base}/logout?redirect_to=https%3A%2F%2Fapp.example%2F`);
});

test("says that the connection is missing if nothing is answered", async () => {
  const { navigate, showNotice } = await signOut(new TypeError("fetch failed"));
  expect(showNotice.mock.calls).toEqual([["connection_missing"]]);
  expect(navigate).not.toHaveBeenCalled();
});
