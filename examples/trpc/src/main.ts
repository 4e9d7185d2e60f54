import type { ActionDescriptor, InputDescriptor } from "@stile-auth/server/trpc";
import { begin, type Flow } from "./flow.ts";

const main = document.querySelector("main") as HTMLElement;
const notice = document.querySelector("[role=status]") as HTMLElement;

/** Calls the application's own server; its cookies are sent along. */
const post = (path: string, body: object = {}) =>
  fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Shows the account, or the login. */
async function show(): Promise<void> {
  const me = await fetch("/api/me");
  if (me.ok) return showAccount(await me.json());
  if (me.status === 401) return showFlow("login");
  notice.textContent = "The sign-in is not available at the moment.";
}

function showAccount({ userId, email }: { userId: string; email?: string }): void {
  const signOut = element("button", { type: "button", onclick: leave }, "Sign out");
  main.replaceChildren(element("p", {}, `Signed in as ${email ?? userId}`), signOut);
}

async function leave(): Promise<void> {
  if ((await post("/api/sign-out")).ok) await show();
  else notice.textContent = "Signing out failed. Try again.";
}

async function showFlow(type: "login" | "registration"): Promise<void> {
  const other = type === "login" ? "registration" : "login";
  try {
    const flow = await begin(type, await (await post("/api/sign-in")).json());
    const words = other === "login" ? "Sign in instead" : "Create an account";
    draw(flow, element("button", { type: "button", onclick: () => showFlow(other) }, words));
  } catch {
    notice.textContent = "The sign-in is not available at the moment.";
  }
}

/** Draws any state: a form for each action, with a field for each input. */
function draw(flow: Flow, ...more: HTMLElement[]): void {
  const { name, actions, error } = flow.state;
  notice.textContent = error?.message ?? "";
  const forms = Object.values(actions).map((action) => formOf(flow, action));
  main.replaceChildren(element("h1", {}, name), ...forms, ...more);
}

function formOf(flow: Flow, { action, description, inputs }: ActionDescriptor): HTMLFormElement {
  const fields = Object.values(inputs).filter((input) => !input.hidden);
  const form = element("form", {}, ...fields.map(fieldOf), element("button", {}, description));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(flow, action, valuesOf(form, inputs));
  });
  return form;
}

function fieldOf({ name, type, required, error }: InputDescriptor): HTMLElement {
  const kind = type === "boolean" ? "checkbox" : type === "string" ? "text" : type;
  const field = element("input", { name, type: kind, required: required === true && kind !== "checkbox" });
  return element("p", {}, element("label", {}, `${name} `, field), ` ${error?.message ?? ""}`);
}

function valuesOf(form: HTMLFormElement, inputs: Record<string, InputDescriptor>): Record<string, unknown> {
  const filled = Object.values(inputs).flatMap(({ name, hidden, value }): [string, unknown][] => {
    if (hidden) return value === undefined ? [] : [[name, value]];
    const field = form.elements.namedItem(name) as HTMLInputElement;
    if (field.type === "checkbox") return [[name, field.checked]];
    return field.value === "" ? [] : [[name, field.value]];
  });
  return Object.fromEntries(filled);
}

async function submit(flow: Flow, action: string, input: Record<string, unknown>): Promise<void> {
  try {
    await flow.act(action, input);
  } catch (error) {
    await showFlow("login");
    notice.textContent = `${(error as Error).message} The sign-in begins again.`;
    return;
  }
  if (flow.state.name !== "success") return draw(flow);
  const { authorization_code: code } = flow.state.payload;
  if ((await post("/api/session", { code })).ok) return show();
  notice.textContent = "The sign-in was not completed. Reload the page to try again.";
}

await show();
