import type { State, Visit } from "./visit.ts";

/** What a client begins a flow with, after which it performs the first action that has an input. */
interface Begun {
  /** Of the state that offers the action: request options, if the browser can use passkeys. */
  payload: Record<string, unknown>;
  act(action: string, input: object): Promise<State>;
}

/** How a client comes to the first action of a flow that has an input. From there on, all clients do the same. */
interface Walk {
  /** Whose requests these are, in the tables. */
  title: string;
  begin(
    visit: Visit,
    type: "login" | "registration",
    capabilities: { webauthn_available: boolean },
  ): Promise<Begun>;
}

export type WalkName = "page" | "clients";

/** The ways of walking through a flow that are measured. */
export const walks: Record<WalkName, Walk> = {
  /**
   * The request that holds the action begins the flow. The page has its request options with its document; here they are
   * asked for, by a request that is part of the task.
   */
  page: {
    title: "as our page",
    async begin(visit, type, capabilities) {
      visit.forget();
      const options = async () => JSON.parse((await visit.call("GET", "/login/request_options")).body);
      return {
        payload: capabilities.webauthn_available ? await options() : {},
        act: (action, input) => visit.begin(type, { capabilities, action, input }),
      };
    },
  },
  /** A start without a body, then the report of capabilities, whose answer has the request options. */
  clients: {
    title: "as published clients",
    async begin(visit, type, capabilities) {
      visit.forget();
      await visit.begin(type);
      const { payload } = await visit.act("register_client_capabilities", capabilities);
      return { payload, act: visit.act };
    },
  },
};
