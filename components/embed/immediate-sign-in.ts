import { browserCapabilities } from "../flow/capabilities.ts";
import { abortCeremony } from "../flow/ceremonies.ts";
import type { SignInOptions } from "../flow/embedding.ts";
import { isErrorAnswer } from "../flow/error-answer.ts";
import type { FlowAnswer } from "../flow/flow-server.ts";
import { recoveryCodesIn } from "../flow/payload-readers.ts";
import { type RestServer, restServer } from "../flow/rest-server.ts";
import { can, publicKeyOf } from "../flow/webauthn-support.ts";

/** A flow that was begun before a component shows it. */
export interface BegunFlow {
  server: RestServer;
  /** The state that it has reached. */
  answer: FlowAnswer;
  /** The action that led to it. */
  performed: string;
}

/** What Chromium has beyond the types of TypeScript (WebAuthn, pull request 2291; Credential Management, 272). */
interface ImmediateRequest extends CredentialRequestOptions {
  password: boolean;
  uiMode: "immediate";
}

/** A password of the browser's manager (Credential Management Level 1, 3.2). */
interface PasswordCredential extends Credential {
  type: "password";
  password: string;
}

/** Whether the browser offers credentials without a form, and says at once if it has none. */
function canSignInAtOnce(): Promise<boolean> {
  return can(async () => {
    const capabilities = await PublicKeyCredential.getClientCapabilities();
    return (capabilities as Record<string, boolean | undefined>).immediateGet === true;
  });
}

/** A login that a component has to show. */
export interface OpenLogin {
  /** The flow to go on with; null if none was begun, and the component starts one. */
  begun: BegunFlow | null;
}

/**
 * Signs in with a passkey or a saved password that the browser offers at once (immediate mode: `uiMode: "immediate"`,
 * Chrome 149), and reports the result. Call it in the handler of a click: the browser demands one, and allows two
 * requests in five seconds.
 *
 * @param language BCP 47 tag for mails
 * @returns null if the user is signed in; else the login to show, in the state that it has reached: a further step, a
 *   rejected one, or the first if the browser has no credential or the user closed its dialog
 */
export async function signInAtOnce(options: SignInOptions, language: string): Promise<OpenLogin | null> {
  const begun = await begin(options, language);
  const result = begun?.server.result();
  if (!begun || !result || recoveryCodesIn(begun.answer.state.payload).length > 0) return { begun };
  options.onStateChange?.({ name: begun.answer.state.name });
  options.onSuccess?.(result);
  return null;
}

async function begin(
  { url, codeChallenge, otherwise = "component" }: SignInOptions,
  language: string,
): Promise<BegunFlow | null> {
  if (!(await canSignInAtOnce())) return null;
  const isContinued = otherwise === "component";
  const asked = isContinued ? "login" : undefined;
  const server = restServer({ url, language, codeChallenge, asked });
  const started = await server.start("login").catch(() => null);
  if (!started || isErrorAnswer(started.state)) return null;
  const flow: BegunFlow = { server, answer: started, performed: "" };
  // A service before 0.4 has ignored what the start reports.
  const report = { ...(await browserCapabilities()) };
  await step(flow, "register_client_capabilities", report);
  // An application that shows the frame or the page does not see what is typed there, so it is given no password here.
  const credential = await offeredCredential(flow.answer.state.payload.request_options, isContinued);
  if (credential && isPassword(credential)) await signInByPassword(flow, credential);
  else if (credential) {
    const response = (credential as PublicKeyCredential).toJSON();
    await step(flow, "webauthn_verify_assertion_response", { assertion_response: response });
  }
  return flow;
}

/** The credential that the user chose; null if the browser has none, the user chose none, or the browser declines. */
async function offeredCredential(options: unknown, password: boolean): Promise<Credential | null> {
  if (options === undefined && !password) return null;
  // Autofill of another component in this page would hold the browser's only request.
  abortCeremony();
  const request: ImmediateRequest = { password, uiMode: "immediate" };
  try {
    if (options !== undefined)
      request.publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(publicKeyOf(options));
    return await navigator.credentials.get(request);
  } catch {
    return null;
  }
}

const isPassword = (credential: Credential): credential is PasswordCredential =>
  credential.type === "password";

/** Names of the input for an identifier. */
const identifierInputs = ["email", "identifier", "username"] as const;

/** Actions that lead to the password, in order. The state after an identifier depends on this device. */
const waysToPassword = ["continue_to_login_method_chooser", "continue_to_password_login"] as const;

/** Sends the identifier, then the password, as far as the flow offers it. */
async function signInByPassword(flow: BegunFlow, { id, password }: PasswordCredential): Promise<void> {
  const action = "continue_with_login_identifier";
  const inputs = flow.answer.state.actions[action]?.inputs ?? {};
  const name = identifierInputs.find((name) => Object.hasOwn(inputs, name));
  if (name === undefined || !(await step(flow, action, { [name]: id }))) return;
  for (const way of waysToPassword) {
    const { actions } = flow.answer.state;
    if (Object.hasOwn(actions, "password_login")) break;
    if (Object.hasOwn(actions, way) && !(await step(flow, way, {}))) return;
  }
  await step(flow, "password_login", { password });
}

/**
 * Performs an action that the state offers.
 *
 * @returns whether it was accepted. The server keeps a step whose answer was lost, and a component sends it again.
 */
async function step(flow: BegunFlow, action: string, input: Record<string, unknown>): Promise<boolean> {
  if (!Object.hasOwn(flow.answer.state.actions, action)) return false;
  flow.performed = action;
  const answer = await flow.server.act("login", action, flow.answer.version, input).catch(() => null);
  // An answer without a state leaves the flow as it was; the component asks for it, and says what is wrong.
  if (!answer || isErrorAnswer(answer.state)) return false;
  flow.answer = answer;
  return answer.state.error === undefined;
}
