import { screen, waitFor, within } from "@testing-library/react";
import type { UserEvent } from "@testing-library/user-event";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { initialsOf } from "./avatar.tsx";
import { draw } from "./drawing.fixture.tsx";

const account = (
  name: "profile_init" | "profile_init_bare" | "profile_init_of_another_version" = "profile_init",
  answers: FlowState[] = [states.profile_init],
) => draw(states[name], { type: "profile", answers });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const panel = (title: string) => within(screen.getByRole("region", { name: title }));

/** A row by its title. */
function row(title: string) {
  const item = screen.getAllByRole("listitem").find((element) => element.textContent?.includes(title));
  if (!item) throw new Error(`no row has the title ${title}`);
  return within(item);
}

const summaries = (within: { queryAllByText: typeof screen.queryAllByText }) =>
  within
    .queryAllByText(() => true, { selector: "summary, .stile-row-actions > form > button" })
    .map((element) => element.textContent);

describe("the account page", () => {
  test("has a section for each kind of item, in the expected order", () => {
    account();
    expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
      "Name and picture",
      "Email addresses",
      "Username and password",
      "Passkeys",
      "Second step",
      "Trusted browsers",
      "Connected accounts",
      "Applications",
      "Where you are signed in",
      "Recent sign-ins",
      "More",
      "Delete account",
    ]);
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Your account");
  });

  test("hides empty sections, and says what can be added", () => {
    account("profile_init_bare");
    expect(screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent)).toEqual([
      "Email addresses",
      "Username and password",
      "Passkeys",
      "Second step",
    ]);
    expect(panel("Passkeys").getByText(en.sections.passkeys.empty ?? "")).toBeDefined();
    expect(panel("Username and password").getByText(en.page.passwordMissing)).toBeDefined();
    expect(panel("Second step").getByText(en.page.appMissing)).toBeDefined();
  });

  test("titles a section with a single item after the item", () => {
    const { username_create: _, ...actions } = states.profile_init_bare.actions;
    draw({ ...states.profile_init_bare, actions }, { type: "profile" });
    expect(panel("Password").getByText(en.page.passwordMissing)).toBeDefined();
    expect(screen.queryByRole("region", { name: "Username and password" })).toBeNull();
  });

  test("labels the button beside the authenticator app", () => {
    account("profile_init_bare");
    expect(row("Authenticator app").getByRole("button", { name: "Set up" })).toBeDefined();
  });

  test("shows a session with the time of day and the icon of its device", () => {
    account();
    expect(
      row("Android (Chrome)").getByText(/^Signed in Nov 1, 2026, .+ · Last used Nov 18, 2026, /),
    ).toBeDefined();
    const icon = (name: string) =>
      row(name).getByText(name, { selector: ".stile-row-title span" }).closest("li")?.querySelector("svg")
        ?.innerHTML;
    expect(icon("Android (Chrome)")).not.toBe(icon("macOS (Safari)"));
    expect(icon("Android (Chrome)")).toBe(icon("Authenticator app"));
  });

  test("closes an open action on a second click", async () => {
    const { user, container } = account();
    const summary = row("Ada's iPhone").getByText("Rename", { exact: false, selector: "summary span" });
    const open = () =>
      [...container.querySelectorAll("details")].filter((disclosure) => disclosure.open).length;
    await user.click(summary);
    expect(open()).toBe(1);
    expect(summaries(row("Ada's iPhone"))).toEqual(["Rename Ada's iPhone", "Remove Ada's iPhone"]);
    await user.click(summary);
    expect(open()).toBe(0);
  });

  test.each([
    ["its button", (user: UserEvent, form: HTMLElement) => user.click(within(form).getByText("Cancel"))],
    ["the Escape key", (user: UserEvent) => user.keyboard("{Escape}")],
  ])("cancels an opened form by %s, discards what was typed, and returns the focus", async (_, cancel) => {
    const { user, server } = account();
    const passkey = row("Ada's iPhone");
    await user.click(passkey.getByText("Rename", { exact: false, selector: "summary span" }));
    const field = passkey.getByRole<HTMLInputElement>("textbox", { name: "Name" });
    await user.clear(field);
    await user.click(passkey.getByRole("button", { name: "Save" }));
    expect(field.getAttribute("aria-invalid")).toBe("true");
    await user.type(field, "My phone");
    const form = field.closest("details") as HTMLDetailsElement;
    await cancel(user, form);
    expect(form.open).toBe(false);
    expect(document.activeElement).toBe(form.querySelector("summary"));
    expect(field.value).toBe("Ada's iPhone");
    expect(field.getAttribute("aria-invalid")).not.toBe("true");
    expect(server.act).not.toHaveBeenCalled();
  });

  test("puts the cursor into the field of an opened form, and leaves it at its button once it is saved", async () => {
    const { user } = account();
    const passkey = row("Ada's iPhone");
    const summary = passkey.getByText("Rename", { exact: false, selector: "summary span" });
    await user.click(summary);
    const field = passkey.getByRole<HTMLInputElement>("textbox", { name: "Name" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect([field.selectionStart, field.selectionEnd]).toEqual([0, "Ada's iPhone".length]);
    await user.keyboard("My phone{Enter}");
    await panel("Passkeys").findByText("The name is changed.");
    expect(document.activeElement).toBe(summary.closest("summary"));
  });

  test("says what is done where the last item of a section is removed, and puts the focus there", async () => {
    const { trusted_browsers: _, ...payload } = states.profile_init.payload;
    const { trusted_device_delete: __, ...actions } = states.profile_init.actions;
    const { user } = account("profile_init", [{ ...states.profile_init, payload, actions }]);
    await user.click(panel("Trusted browsers").getByText("No longer trust", { selector: "summary span" }));
    await user.click(panel("Trusted browsers").getByRole("button", { name: "No longer trust" }));
    expect(await panel("Trusted browsers").findByText("The browser is no longer trusted.")).toBeDefined();
    expect(document.activeElement?.textContent).toBe("Trusted browsers");
  });

  test("writes dates as the reader does, where the browser speaks the language of the page", () => {
    vi.spyOn(navigator, "languages", "get").mockReturnValue(["de-AT", "en-GB", "en-US"]);
    account();
    expect(row("Windows Hello").getByText("Added 4 Mar 2026")).toBeDefined();
  });

  test("names an unknown browser of a session in the reader's language", () => {
    const sessions = [{ id: "s9", user_agent: "Unknown", user_agent_raw: "curl/8", current: true }];
    const payload = { ...states.profile_init.payload, sessions };
    draw({ ...states.profile_init, payload }, { type: "profile" });
    expect(panel("Where you are signed in").getByText("Unknown browser")).toBeDefined();
  });

  test("names the row in the label of each of its actions", () => {
    account();
    const labels = summaries(panel("Username and password"));
    expect(labels).toEqual([
      "Change Username",
      "Remove Username",
      "Set Phone number",
      "Remove Phone number",
      "Change Password",
      "Remove Password",
    ]);
  });

  test("shows the details of each item", () => {
    account();
    expect(row("ada@example.org").getByText("Primary")).toBeDefined();
    expect(row("old@example.org").getByText("Not confirmed")).toBeDefined();
    expect(summaries(row("third@example.org"))).toEqual(["Make primary third@example.org"]);
    expect(
      row("Ada's iPhone").getByText(
        "iCloud Keychain · Added Mar 4, 2026 · Last used Oct 11, 2026 – iOS (Safari), 192.0.2.x",
      ),
    ).toBeDefined();
    expect(row("Ada's iPhone").getByText("Synced")).toBeDefined();
    expect(row("macOS (Safari)").getByText("This device")).toBeDefined();
    expect(row("macOS (Safari)").getByText(/^Berlin, Germany · 192\.0\.2\.7 · /)).toBeDefined();
  });

  test("names passkeys without a name by their provider, and numbers equal ones", () => {
    account();
    expect(row("Windows Hello").getByText(/^Added Mar 4, 2026/)).toBeDefined();
    expect(summaries(row("Windows Hello 2"))).toEqual(["Rename Windows Hello 2", "Remove Windows Hello 2"]);
    const name = row("Windows Hello 2").getByLabelText<HTMLInputElement>(/^Name/);
    expect([name.value, name.maxLength]).toEqual(["Windows Hello 2", 64]);
  });

  test("leaves equal names that their owner gave", () => {
    const named = structuredClone(states.profile_init);
    const { passkeys } = named.payload.user as { passkeys: { name: string }[] };
    for (const passkey of passkeys) passkey.name = "Work";
    draw(named, { type: "profile" });
    expect(panel("Passkeys").getAllByText("Work", { selector: ".stile-row-title span" })).toHaveLength(3);
  });

  test("tells a session that an administrator created", () => {
    account();
    expect(row("Android (Chrome)").getByText("Created by an administrator")).toBeDefined();
  });

  test("shows the recovery codes that are left, phones, trusted browsers and sign-ins", () => {
    account();
    expect(row("Recovery codes").getByText("Unused codes: 7")).toBeDefined();
    expect(
      row("Ada's Pixel").getByText("Google Pixel 9 · Added May 6, 2026 · Last used Nov 17, 2026"),
    ).toBeDefined();
    expect(summaries(row("Ada's Pixel"))).toEqual(["Remove Ada's Pixel"]);
    const browser = panel("Trusted browsers");
    expect(
      browser.getByText(/^198\.51\.100\.x · Last used Nov 16, 2026, .+ · Trusted until Dec 16, 2026$/),
    ).toBeDefined();
    expect(summaries(browser)).toEqual(["No longer trust Windows (Firefox)"]);
    const signIns = panel("Recent sign-ins");
    expect(signIns.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(
        /^Linux \(Chrome\)Password\s· Authenticator app\s· Bavaria, Germany\s· 203\.0\.113\.x\s· Signed in Nov 19, 2026, /,
      ),
      expect.stringMatching(/^Windows \(Edge\)FailedMailed code\s· 2001:db8:1:…\s· Tried Nov 18, 2026, /),
      expect.stringMatching(/^Unknown browserSigned in Nov 1, 2026, /),
    ]);
    expect(summaries(signIns)).toEqual([]);
  });

  test("changes the name from a form that begins with it", async () => {
    const { server, user } = account();
    const name = within(
      panel("Name and picture")
        .getByText("Change", { exact: false, selector: "summary span" })
        .closest("details") as HTMLElement,
    );
    const field = (label: string) => name.getByLabelText<HTMLInputElement>(new RegExp(`^${label}`));
    expect([field("Name").value, field("Given name").value, field("Family name").value]).toEqual([
      "Ada Lovelace",
      "Ada",
      "",
    ]);
    expect(field("Family name").autocomplete).toBe("family-name");
    await user.type(field("Family name"), "King");
    await user.click(name.getByText("Save"));
    expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "name_update", 7, {
      name: "Ada Lovelace",
      given_name: "Ada",
      family_name: "King",
    });
  });

  test("shows the picture, sends another one at once, and offers to remove it", async () => {
    const { server, user, container } = account();
    vi.stubGlobal("createImageBitmap", async () => ({ width: 640, height: 480, close() {} }));
    const draws = vi.fn();
    vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue({
      fillRect() {},
      drawImage: draws,
    } as unknown as null);
    const qualities: unknown[] = [];
    vi.spyOn(HTMLCanvasElement.prototype, "toDataURL").mockImplementation((type, quality) => {
      qualities.push(quality);
      return `data:${type};base64,${(quality as number) > 0.85 ? "A".repeat(40_000) : "/+8="}`;
    });
    const picture = panel("Name and picture");
    expect(container.querySelector(".stile-user-initial img")?.getAttribute("src")).toBe(
      "/users/pictures/p1",
    );
    expect(picture.getByText(en.page.pictureShown)).toBeDefined();
    expect(picture.getByText("Remove", { selector: "summary span" })).toBeDefined();
    const field = picture.getByLabelText<HTMLInputElement>("Picture");
    await user.upload(field, new File(["x"], "me.heic", { type: "image/heic" }));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "picture_update", 7, { picture: "_-8" }),
    );
    expect(qualities).toEqual([0.9, 0.8]);
    expect(draws.mock.calls[0]?.slice(1)).toEqual([80, 0, 480, 480, 0, 0, 256, 256]);
    expect(await picture.findByRole("status")).toHaveProperty("textContent", "Your picture is saved.");
  });

  test("says that a file is no picture, and sends nothing", async () => {
    const { server, user } = account();
    vi.stubGlobal("createImageBitmap", () => Promise.reject(new Error("no picture")));
    const picture = panel("Name and picture");
    const field = picture.getByLabelText<HTMLInputElement>("Picture");
    await user.upload(field, new File(["x"], "me.png", { type: "image/png" }));
    expect((await picture.findByRole("alert")).textContent).toContain("This picture cannot be used.");
    expect(server.act).not.toHaveBeenCalled();
  });

  test.each([
    ["Ada Lovelace", "AL"],
    ["ada@example.com", "A"],
    ["ada.king@example.com", "AK"],
    ["Ada", "A"],
    ["  María  de la  Ó ", "MÓ"],
    ["王小明", "王"],
    ["𝒜da", "𝒜"],
    ["☃", ""],
    ["", ""],
  ])("draws the initials of %s as %s", (name, initials) => {
    expect(initialsOf(name)).toBe(initials);
  });

  test("shows no picture of another host, and names no picture where there is none", () => {
    const { picture_path: _, user, ...payload } = states.profile_init.payload;
    const { container } = draw(
      { ...states.profile_init, payload: { ...payload, user } },
      { type: "profile" },
    );
    expect(container.querySelector(".stile-user-initial img")).toBeNull();
    expect(container.querySelector(".stile-user-initial")?.textContent).toBe("AL");
    expect(panel("Name and picture").getByText(en.page.pictureElsewhere)).toBeDefined();
  });

  test("shows the editor of metadata only where the server says so", () => {
    const { metadata_editor: _, ...payload } = states.profile_init.payload;
    draw({ ...states.profile_init, payload }, { type: "profile" });
    expect(screen.queryByText(en.actions.patch_metadata.label)).toBeNull();
  });

  test("offers an action only on the items that it applies to", () => {
    account();
    expect(summaries(row("ada@example.org"))).toEqual([]);
    expect(summaries(row("old@example.org"))).toEqual(["Confirm old@example.org", "Remove old@example.org"]);
    expect(summaries(row("macOS (Safari)"))).toEqual([]);
    expect(summaries(row("Android (Chrome)"))).toEqual(["Sign out Android (Chrome)"]);
    expect(summaries(row("YubiKey 5"))).toEqual(["Rename YubiKey 5", "Remove YubiKey 5"]);
    expect(summaries(row("GitHub"))).toEqual(["Disconnect GitHub"]);
  });

  test("sends the item that an action is performed on", async () => {
    const { server, user } = account();
    await user.click(
      row("third@example.org").getByRole("button", { name: "Make primary third@example.org" }),
    );
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "email_set_primary", 7, {
        email_id: "e3",
      }),
    );
    expect(await panel("Email addresses").findByRole("status")).toHaveProperty(
      "textContent",
      en.actions.email_set_primary.done,
    );
  });

  test("asks for confirmation before a destructive action", async () => {
    const { server, user, container } = account();
    const passkey = row("Ada's iPhone");
    await user.click(passkey.getByText("Remove", { exact: false, selector: "summary span" }));
    expect(server.act).not.toHaveBeenCalled();
    const opened = [...container.querySelectorAll("details")].filter(({ open }) => open);
    expect(opened).toHaveLength(1);
    expect(passkey.getByText(en.actions.webauthn_credential_delete.confirm ?? "")).toBeDefined();
    await user.click(passkey.getByText("Yes, remove it"));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "webauthn_credential_delete", 7, {
        passkey_id: "cGsx",
        end_other_sessions: true,
      }),
    );
    await waitFor(() =>
      expect([...container.querySelectorAll("details")].some(({ open }) => open)).toBe(false),
    );
  });

  test("confirms an action that is no longer offered", async () => {
    const { webauthn_credential_delete: _, ...actions } = states.profile_init.actions;
    const { user } = account("profile_init", [{ ...states.profile_init, actions }]);
    const passkey = row("Ada's iPhone");
    await user.click(passkey.getByText("Remove", { exact: false, selector: "summary span" }));
    await user.click(passkey.getByText("Yes, remove it"));
    expect(await panel("Passkeys").findByRole("status")).toHaveProperty(
      "textContent",
      en.actions.webauthn_credential_delete.done,
    );
  });

  test("asks for confirmation on every destructive action", () => {
    const { container } = account();
    const open = [...container.querySelectorAll("form[data-action$=_delete]")].filter(
      (form) => !form.closest("details"),
    );
    expect(open).toEqual([]);
  });

  test("renames a passkey, starting with its current name", async () => {
    const { server, user } = account();
    const passkey = row("Ada's iPhone");
    await user.click(passkey.getByText("Rename", { exact: false, selector: "summary span" }));
    const field = passkey.getByLabelText<HTMLInputElement>("Name");
    expect(field.value).toBe("Ada's iPhone");
    await user.clear(field);
    await user.type(field, "My phone{Enter}");
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "webauthn_credential_rename", 7, {
        passkey_id: "cGsx",
        passkey_name: "My phone",
      }),
    );
    await waitFor(() => expect(field.value).toBe("Ada's iPhone"));
  });

  test("shows an error beside its item and no other", async () => {
    const { user } = account("profile_init", [states.profile_init_wrong_name]);
    const passkey = row("Ada's iPhone");
    await user.click(passkey.getByText("Rename", { exact: false, selector: "summary span" }));
    await user.clear(passkey.getByLabelText("Name"));
    await user.type(passkey.getByLabelText("Name"), "x{Enter}");
    expect(await screen.findAllByText(en.errors.value_missing_error)).toHaveLength(1);
    expect(passkey.getByText(en.errors.value_missing_error)).toBeDefined();
    expect(passkey.getByLabelText<HTMLInputElement>("Name").value).toBe("x");
  });

  test("shows an error without a field at the top", () => {
    draw(states.profile_init_not_found, { type: "profile" });
    expect(screen.getByRole("alert").textContent).toBe(en.errors.not_found);
  });

  test("keeps a rejected action open with the typed text", () => {
    draw(states.profile_init_wrong_email, { type: "profile" });
    const field = screen.getByLabelText<HTMLInputElement>("Email");
    expect(field.closest("details")?.open).toBe(true);
    expect(field.value).toBe("ada@");
  });

  test("lets password managers save a new password with its account", () => {
    const { container } = account();
    expect(screen.getByLabelText<HTMLInputElement>("New password").autocomplete).toBe("new-password");
    expect(
      container.querySelector<HTMLInputElement>("[data-action=password_update] .stile-owner")?.value,
    ).toBe("ada@example.org");
  });

  test("shows an unknown action under more, and sends it", async () => {
    const { server, user } = account("profile_init_of_another_version");
    await user.click(panel("More").getByText("Send postcard", { selector: "summary span" }));
    await user.type(panel("More").getByLabelText("Country"), "Ireland{Enter}");
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "send_postcard", 7, {
        country: "Ireland",
      }),
    );
  });

  test("connects another account by its provider", async () => {
    const { server, user } = account();
    await user.click(screen.getByRole("button", { name: "Connect Google" }));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "connect_thirdparty_oauth_provider", 7, {
        provider: "google",
        redirect_to: "https://login.example/",
      }),
    );
  });

  const { user: owner } = states.profile_init.payload as { user: Record<string, unknown[]> };
  const withUser = (user: object) => ({
    ...states.profile_init,
    payload: { ...states.profile_init.payload, user: { ...owner, ...user } },
  });
  const bare = states.profile_init_bare;
  const withApp = {
    ...bare,
    payload: { user: { ...(bare.payload.user as object), mfa_config: { auth_app_set_up: true } } },
  };

  test("confirms an added address after a correct code", async () => {
    const address = "new@example.org";
    const emails = [...(owner.emails ?? []), { id: "e4", address, is_primary: false, is_verified: true }];
    const { user } = account("profile_init", [states.passcode_confirmation, withUser({ emails })]);
    await user.click(screen.getByText("Add an email address"));
    await user.type(screen.getByLabelText("Email"), `${address}{Enter}`);
    expect((await screen.findByText(address)).className).toBe("stile-subject");
    await user.type(screen.getByLabelText("Code"), "123456");
    const done = await panel("Email addresses").findByRole("status");
    expect(done.textContent).toBe(en.actions.email_create.done);
    expect(document.activeElement?.textContent).toBe("Email addresses");
  });

  test("confirms an authenticator app", async () => {
    const { user } = account("profile_init_bare", [states.mfa_otp_secret_creation, withApp]);
    await user.click(screen.getByRole("button", { name: "Set up" }));
    await user.type(await screen.findByLabelText("Code"), "123456");
    expect(await panel("Second step").findByRole("status")).toHaveProperty(
      "textContent",
      "The authenticator app is set up.",
    );
  });

  /** A state that performed an action after a re-authentication. */
  const performing = <State extends FlowState>(state: State, action: string) => ({
    ...state,
    payload: { ...state.payload, performed_action: action },
  });

  test("confirms the change that a re-authentication was for, in its section", async () => {
    const { user } = account("profile_init", [
      states.login_password,
      performing(states.profile_init, "email_set_primary"),
    ]);
    await user.click(
      row("third@example.org").getByRole("button", { name: "Make primary third@example.org" }),
    );
    await user.type(await screen.findByLabelText("Password"), "secret{Enter}");
    const done = await panel("Email addresses").findByRole("status");
    expect(done.textContent).toBe(en.actions.email_set_primary.done);
    expect(screen.queryByText(en.errors.proved_again)).toBeNull();
  });

  test("shows the error of the change that a re-authentication was for", async () => {
    const { user } = account("profile_init", [
      states.login_password,
      performing(states.profile_init_not_found, "email_set_primary"),
    ]);
    await user.click(
      row("third@example.org").getByRole("button", { name: "Make primary third@example.org" }),
    );
    await user.type(await screen.findByLabelText("Password"), "secret{Enter}");
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.not_found);
    expect(screen.queryByText(en.errors.proved_again)).toBeNull();
  });

  test("names the new address when a re-authentication sends its code", async () => {
    const { user } = account("profile_init", [
      states.login_password,
      performing(states.passcode_confirmation, "email_create"),
      states.profile_init,
    ]);
    await user.click(screen.getByText("Add an email address"));
    await user.type(screen.getByLabelText("Email"), "new@example.org{Enter}");
    await user.type(await screen.findByLabelText("Password"), "secret{Enter}");
    expect((await screen.findByText("new@example.org")).className).toBe("stile-subject");
    await user.type(await screen.findByLabelText("Code"), "123456");
    await screen.findByRole("heading", { name: "Your account" });
    expect(screen.queryByText(en.errors.proved_again)).toBeNull();
  });

  test("does not report an added item after a re-authentication without an addition", async () => {
    const { user } = account("profile_init", [states.login_password, states.profile_init]);
    await user.click(screen.getByText("Add an email address"));
    await user.type(screen.getByLabelText("Email"), "new@example.org{Enter}");
    await user.type(await screen.findByLabelText("Password"), "secret{Enter}");
    expect(await screen.findByText(en.errors.proved_again)).toBeDefined();
    expect(screen.queryByText(en.actions.email_create.done ?? "")).toBeNull();
  });

  test("explains a re-authentication", () => {
    draw(states.login_method_chooser, { type: "profile" });
    expect(screen.getByRole("heading").textContent).toBe("Is it still you?");
  });

  test("confirms a re-authentication", async () => {
    const { user } = draw(states.login_password, { type: "profile", answers: [states.profile_init] });
    await user.type(screen.getByLabelText("Password"), "secret{Enter}");
    expect(await screen.findByText(en.errors.proved_again)).toBeDefined();
  });

  test("does not confirm a re-authentication that was cancelled", async () => {
    const { user } = draw(states.login_password, { type: "profile", answers: [states.profile_init] });
    await user.click(screen.getByRole("button", { name: "Back" }));
    await screen.findByRole("heading", { name: "Your account" });
    expect(screen.queryByText(en.errors.proved_again)).toBeNull();
  });

  test("shows an error of an unknown item at the top", () => {
    draw(states.profile_init_wrong_name, { type: "profile" });
    expect(screen.getByRole("alert").textContent).toBe(en.errors.form_data_invalid_error);
  });

  test("links to the sign-in after the session has ended elsewhere", async () => {
    const { user } = account("profile_init", [states.error_401]);
    await user.click(
      row("third@example.org").getByRole("button", { name: "Make primary third@example.org" }),
    );
    expect(await screen.findByRole("link", { name: "Sign in" })).toBeDefined();
  });
});

describe("a change of the password", () => {
  test.each([
    ["ends the other sessions unless the user unchecks that", false],
    ["leaves the other sessions if the user unchecks that", true],
  ])("%s", async (_, unchecks) => {
    const { server, user, container } = account();
    const form = container.querySelector<HTMLFormElement>("form[data-action=password_update]");
    if (!form) throw new Error("the password cannot be changed");
    const box = within(form).getByLabelText<HTMLInputElement>(en.inputs.end_other_sessions?.label ?? "");
    expect(box.checked).toBe(true);
    if (unchecks) await user.click(box);
    const field = form.querySelector<HTMLInputElement>("input[name=password]");
    if (field) await user.type(field, "seven herons under the bridge{Enter}");
    expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "password_update", expect.any(Number), {
      password: "seven herons under the bridge",
      end_other_sessions: !unchecks,
    });
  });
});
