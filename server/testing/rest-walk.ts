import type { FlowType } from "../flow/names.ts";
import type { FlowState } from "../flow/wire.ts";
import type { TestRuntime } from "./runtime.ts";
import { type Visitor, visitor } from "./visitor.ts";

export const password = "seven herons over the lake";

/** A walk through a flow over the REST interface, in this process. */
export interface RestWalk {
  readonly visitor: Visitor;
  readonly state: FlowState;
  readonly response: Response;
  /** Performs an action, with the values that its hidden inputs announce. */
  act(action: string, input?: Record<string, unknown>): Promise<FlowState>;
}

/**
 * Starts a flow at `POST /<type>`.
 *
 * @param query of the start
 */
export async function restWalk(
  runtime: TestRuntime,
  type: FlowType,
  as: Visitor = visitor(runtime),
  query: Record<string, string> = {},
): Promise<RestWalk> {
  let response = await as.post(`/${type}?${new URLSearchParams(query)}`);
  let state = (await response.json()) as FlowState;
  return {
    visitor: as,
    get state() {
      return state;
    },
    get response() {
      return response;
    },
    async act(action, input = {}) {
      const { href, inputs = {} } = state.actions[action] ?? {};
      if (!href) throw new Error(`${state.name} does not offer ${action}`);
      const hidden = Object.values(inputs).filter((one) => one.hidden && one.value !== undefined);
      const announced = Object.fromEntries(hidden.map(({ name, value }) => [name, value]));
      response = await as.post(href, {
        csrf_token: state.csrf_token,
        input_data: { ...announced, ...input },
      });
      state = (await response.json()) as FlowState;
      return state;
    },
  };
}

/** Chooses a way to sign in, also in a browser that has signed in before, which was led past the choice. */
export async function chooseMethod(flow: RestWalk, action: string): Promise<FlowState> {
  if (!Object.hasOwn(flow.state.actions, action)) await flow.act("continue_to_login_method_chooser");
  return flow.act(action);
}

/** The newest code that was mailed to an address. */
export function mailedCode(runtime: TestRuntime, address: string): string {
  const job = runtime.enqueued.findLast(({ to }) => to === address);
  if (!job || !("code" in job.mail)) throw new Error(`no code was mailed to ${address}`);
  return job.mail.code;
}

/** The newest link that was mailed to an address, with `email.links`. */
export function mailedLink(runtime: TestRuntime, address: string): URL {
  const job = runtime.enqueued.findLast(({ to }) => to === address);
  if (!job || !("code" in job.mail) || !job.mail.link) throw new Error(`no link was mailed to ${address}`);
  return new URL(job.mail.link);
}

/** Registers an account with `password`. */
export async function restRegistration(
  runtime: TestRuntime,
  email: string,
  { username }: { username?: string } = {},
): Promise<RestWalk> {
  const walk = await restWalk(runtime, "registration");
  await walk.act("register_client_capabilities");
  await walk.act("register_login_identifier", { email, ...(username ? { username } : {}) });
  await walk.act("verify_passcode", { code: mailedCode(runtime, email) });
  await walk.act("register_password", { new_password: password });
  if (walk.state.name !== "success") throw new Error(`the registration ended at ${walk.state.name}`);
  return walk;
}
