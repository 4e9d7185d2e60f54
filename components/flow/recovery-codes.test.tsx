import { screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { states } from "../gallery/states.ts";
import { draw, settle } from "./drawing.fixture.tsx";
import { recoveryCodesIn } from "./payload-readers.ts";

const codes = recoveryCodesIn(states.success_with_codes.payload);
const text = `${codes.join("\n")}\n`;

afterEach(() => {
  vi.useRealTimers();
});

test("the page redirects only after the recovery codes are saved", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const { user, navigate } = draw(states.success_with_codes, { redirect_to: "https://shop.example/welcome" });
  for (const code of codes) expect(screen.getByText(code)).toBeDefined();
  await settle();
  expect(navigate).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "I have saved them" }));
  await waitFor(() => expect(navigate).toHaveBeenCalledExactlyOnceWith("https://shop.example/welcome"));
  expect(screen.queryByText(codes[0] ?? "")).toBeNull();
});

test("without a redirect the codes are dismissed, and the final state follows", async () => {
  const { user } = draw(states.success_with_codes);
  expect(screen.queryByRole("link", { name: "Go to your account" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "I have saved them" }));
  expect(screen.getByRole("link", { name: "Go to your account" })).toBeDefined();
});

test("the codes can be copied and downloaded, one on a line", async () => {
  const { user } = draw(states.success_with_codes);
  await user.click(screen.getByRole("button", { name: "Copy" }));
  expect(await navigator.clipboard.readText()).toBe(text);
  const link = screen.getByRole<HTMLAnchorElement>("link", { name: "Download" });
  expect(link.download).toBe("recovery codes.txt");
  expect(link.href).toBe(`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`);
});

test("on the account page the codes are at the top, and can be dismissed", async () => {
  const { user } = draw(states.profile_init_with_codes, { type: "profile" });
  expect(screen.getByRole("region", { name: "Your recovery codes" })).toBeDefined();
  await user.click(screen.getByRole("button", { name: "I have saved them" }));
  expect(screen.queryByRole("region", { name: "Your recovery codes" })).toBeNull();
});

test("the codes stay until they are saved, although the server sends them only once", async () => {
  const options = { type: "profile" as const, answers: [states.profile_init] };
  const { user, server } = draw(states.profile_init_with_codes, options);
  await waitFor(() => expect(server.current).toHaveBeenCalledTimes(1));
  dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  await waitFor(() => expect(server.current).toHaveBeenCalledTimes(2));
  expect(screen.getByRole("region", { name: "Your recovery codes" })).toBeDefined();
  await user.click(screen.getByRole("button", { name: "I have saved them" }));
  expect(screen.queryByRole("region", { name: "Your recovery codes" })).toBeNull();
});
