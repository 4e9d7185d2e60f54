import type { FlowState } from "#server/flow/wire";
import type { Variant } from "#words/flow";
import type { FlowType } from "./flow-server.ts";

/** The circumstances under which the same state means something else, least particular first. */
export function variantsOf(state: FlowState, type: FlowType): Variant[] {
  return [
    ...(type === "profile" ? (["signed_in"] as const) : []),
    ...(state.error?.code === "unauthorized" ? (["signed_out"] as const) : []),
    ...(isAboutSecurityKey(state.payload) ? (["security_key"] as const) : []),
    ...(hasToWait(state.payload) ? (["waits"] as const) : []),
  ];
}

/** There is to be a picture, in a moment. */
function hasToWait({ resend_after, qr_image_source }: Record<string, unknown>): boolean {
  return typeof resend_after === "number" && qr_image_source === undefined;
}

interface Options {
  publicKey?: { userVerification?: unknown; authenticatorSelection?: { residentKey?: unknown } };
}

/** Passkeys are asked to be found by themselves and to know their person; second factors are asked neither. */
function isAboutSecurityKey({ creation_options, request_options }: Record<string, unknown>): boolean {
  const creation = (creation_options as Options | null | undefined)?.publicKey;
  const request = (request_options as Options | null | undefined)?.publicKey;
  return (
    creation?.authenticatorSelection?.residentKey === "discouraged" ||
    request?.userVerification === "discouraged"
  );
}
