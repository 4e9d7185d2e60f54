import type { FlowState } from "#server/flow/wire";
import type { Variant } from "#words/flow";
import type { FlowType } from "./flow-server.ts";
import { recordOf } from "./payload-readers.ts";

/**
 * The conditions under which a state has other words, least specific first.
 *
 * @param attempted the state before its rejected attempts, whose payload says what a ceremony is about
 */
export function variantsOf(state: FlowState, type: FlowType, attempted: FlowState | null = null): Variant[] {
  return [
    ...(type === "profile" ? (["signed_in"] as const) : []),
    ...(state.error?.code === "unauthorized" ? (["signed_out"] as const) : []),
    ...(isAboutSecurityKey({ ...attempted?.payload, ...state.payload }) ? (["security_key"] as const) : []),
    ...(state.payload.provider_gave_no_address === true ? (["no_address"] as const) : []),
    ...(hasToWait(state.payload) ? (["waits"] as const) : []),
    ...(Object.keys(state.actions).length === 0 && !state.error ? (["closed"] as const) : []),
    ...(isRejectedReturn(state)
      ? [type === "profile" ? ("not_connected" as const) : ("rejected" as const)]
      : []),
    ...(takesLetters(state) ? (["letters"] as const) : []),
    ...(isAboutDevice(state.payload) ? (["device"] as const) : []),
  ];
}

/** Whether a device without a browser is to be signed in, or is. */
const isAboutDevice = ({ device, authorization }: Record<string, unknown>): boolean =>
  device === true || recordOf(authorization).device !== undefined;

/** Whether a code that the state asks for may have letters (`email.passcode_charset`). */
function takesLetters({ actions }: FlowState): boolean {
  return Object.values(actions).some(({ inputs }) =>
    Object.values(inputs).some(({ charset }) => charset === "alphanumeric"),
  );
}

/** Whether an identity provider's answer is refused for what it says; no second try with it changes that. */
export function isRejectedReturn({ actions, error, status }: FlowState): boolean {
  return error !== undefined && status < 429 && Object.hasOwn(actions, "exchange_token");
}

/** Whether the QR code is available only after a wait. */
function hasToWait({ resend_after, qr_image_source }: Record<string, unknown>): boolean {
  return typeof resend_after === "number" && qr_image_source === undefined;
}

interface Options {
  publicKey?: { userVerification?: unknown; authenticatorSelection?: { residentKey?: unknown } };
}

/** Second factors, unlike passkeys, request neither a discoverable credential nor user verification. */
function isAboutSecurityKey({ creation_options, request_options }: Record<string, unknown>): boolean {
  const creation = (creation_options as Options | null | undefined)?.publicKey;
  const request = (request_options as Options | null | undefined)?.publicKey;
  return (
    creation?.authenticatorSelection?.residentKey === "discouraged" ||
    request?.userVerification === "discouraged"
  );
}
