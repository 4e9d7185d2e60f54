import { useState } from "react";
import { EmbeddedLogin } from "../../../components/embed/embedded-login.tsx";
import { useEmbeddedFlow } from "../../../components/embed/use-embedded-flow.ts";
import type { EmbeddingOptions } from "../../../components/flow/embedding.ts";
import type { Flow, FlowView } from "../../../components/flow/use-flow.ts";
import { wordSource } from "../../words.ts";

export type {
  ActionDescriptor,
  EmbeddedFlow,
  EmbeddingOptions,
  FlowError,
  FlowLink,
  FlowResult,
  FlowState,
  InputDescriptor,
} from "../../../components/flow/embedding.ts";
export type { ActOptions, Flow, FlowView } from "../../../components/flow/use-flow.ts";

export type LoginProps = Omit<EmbeddingOptions, "flow"> & { flow?: "login" | "registration" };

export type AccountProps = Omit<EmbeddingOptions, "flow" | "codeChallenge">;

/** Signs a user in or up, with every state that the service can answer. */
export function Login(props: LoginProps) {
  return <EmbeddedLogin {...props} source={wordSource} />;
}

/** The account of the signed-in user. Needs the session cookie, so the application is on the same site. */
export function Account(props: AccountProps) {
  return <EmbeddedLogin {...props} flow="profile" source={wordSource} />;
}

/**
 * A flow without a drawing: its state, and the functions that change it. Passkeys, autofill and redirects to identity
 * providers are performed by the hook.
 *
 * @returns `state` is null until the service has answered
 */
export function useFlow(
  options: EmbeddingOptions,
): Omit<Flow, "view"> & { view: FlowView; state: FlowView["state"] | null } {
  const [type] = useState(options.flow ?? "login");
  const { flow } = useEmbeddedFlow(options, {
    ...{ type, words: null, openFlow: undefined },
    language: options.language ?? "en",
  });
  return { ...flow, state: flow.view.version === 0 ? null : flow.view.state };
}
