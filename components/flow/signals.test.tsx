import { screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { states } from "../gallery/states.ts";
import { draw } from "./drawing.fixture.tsx";
import { signalsOf } from "./signals.ts";

const userID = "DT-cHo-OSlWbjjqKNtC5oQ";

afterEach(() => vi.unstubAllGlobals());

test("an unknown passkey is reported", () => {
  expect(signalsOf(states.login_passkey_unknown, "login.example")).toEqual([
    { signalName: "unknownCredential", rpID: "localhost", credentialID: "Zm9yZ290dGVu" },
  ]);
});

test("the account page reports the accepted passkeys and the user's names", () => {
  expect(signalsOf(states.profile_init, "login.example")).toEqual([
    {
      signalName: "allAcceptedCredentials",
      rpID: "login.example",
      userID,
      allAcceptedCredentialIDs: ["cGsx", "cGsy", "cGsz", "c2sx"],
    },
    {
      signalName: "currentUserDetails",
      rpID: "login.example",
      userID,
      userName: "ada@example.org",
      userDisplayName: "Ada Lovelace",
    },
  ]);
});

test("passkeys under several user handles are reported under each", () => {
  const { payload } = states.profile_init;
  const state = { ...states.profile_init, payload: { ...payload, user_handles: ["aGFuZGxl", userID] } };
  const under = signalsOf(state, "login.example").map((signal) => [
    signal.signalName,
    "userID" in signal ? signal.userID : null,
  ]);
  expect(under).toEqual([
    ["allAcceptedCredentials", "aGFuZGxl"],
    ["currentUserDetails", "aGFuZGxl"],
    ["allAcceptedCredentials", userID],
    ["currentUserDetails", userID],
  ]);
});

test("a missing list removes no passkey, and an empty one does where passkeys can be created", () => {
  const names = (state: (typeof states)["success" | "profile_init_bare"]) =>
    signalsOf(state, "login.example").map(({ signalName }) => signalName);
  expect(names(states.success)).toEqual(["currentUserDetails"]);
  expect(names(states.profile_init_bare)).toEqual(["allAcceptedCredentials"]);
});

test("a state without a user sends nothing", () => {
  expect(signalsOf(states.login_init, "login.example")).toEqual([]);
  expect(signalsOf({ ...states.success, payload: { user: { id: "not an id" } } }, "login.example")).toEqual(
    [],
  );
});

test("a browser that fails, or takes no signals, does not block the page", async () => {
  const signalCurrentUserDetails = vi.fn(() => Promise.reject(new Error("broken")));
  vi.stubGlobal("PublicKeyCredential", Object.assign(new Function(), { signalCurrentUserDetails }));
  draw(states.success);
  await waitFor(() =>
    expect(signalCurrentUserDetails).toHaveBeenCalledWith({
      rpId: "login.example",
      userId: userID,
      name: "ada@example.org",
      displayName: "ada@example.org",
    }),
  );
  expect(screen.getByRole("heading").textContent).toBe("You are signed in");
});
