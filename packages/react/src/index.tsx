import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from "react";
import { EmbeddedLogin, languageOf } from "../../../components/embed/embedded-login.tsx";
import type { OpenLogin } from "../../../components/embed/immediate-sign-in.ts";
import { signInOrOpen } from "../../../components/embed/sign-in.ts";
import { leftFlow, useEmbeddedFlow } from "../../../components/embed/use-embedded-flow.ts";
import type { EmbeddingOptions, SignInOptions } from "../../../components/flow/embedding.ts";
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
  SignInOptions,
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
    type,
    words: null,
    openFlow: undefined,
    language: options.language ?? "en",
  });
  return { ...flow, state: flow.view.version === 0 ? null : flow.view.state };
}

const loadFrame = () => import("../../../components/embed/framed-login.tsx");
const FramedLogin = lazy(() => loadFrame().then((part) => ({ default: part.FramedLogin })));

/** Loaded before the click: the browser allows a request for a few seconds after it. */
const loadImmediate = () => import("../../../components/embed/immediate-sign-in.ts");

/**
 * Signs in behind a button of the application: with a passkey or a password that the browser offers at once, else with
 * the login that it returns, which goes on where the attempt has ended, or on the hosted page.
 *
 * @returns `signIn`: call it in the handler of a click. `login`: null until there is something to show; draw it where the
 *   login belongs. `busy`: whether `signIn` is under way.
 */
export function useSignIn(options: Omit<SignInOptions, "flow">): {
  signIn: () => Promise<void>;
  login: ReactElement | null;
  busy: boolean;
} {
  const { otherwise = "component" } = options;
  const [open, setOpen] = useState<OpenLogin | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the flow that this tab has left is that of the first address
  useEffect(() => {
    void loadImmediate().catch(() => {});
    if (otherwise === "component" && leftFlow(options) !== null) setOpen({ begun: null });
  }, []);

  async function signIn(): Promise<void> {
    if (running.current || open) return;
    running.current = true;
    setBusy(true);
    try {
      setOpen(await signInOrOpen(options, languageOf(wordSource, options.language), loadImmediate));
    } finally {
      setBusy(false);
      running.current = false;
    }
  }

  const framed = otherwise === "frame" && (
    <Suspense fallback={null}>
      <FramedLogin {...options} />
    </Suspense>
  );
  const login =
    open && (framed || <EmbeddedLogin {...options} flow="login" source={wordSource} begun={open.begun} />);
  return { signIn, login, busy };
}
