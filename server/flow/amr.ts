import { methodOf } from "../methods/index.ts";
import type { FlowData } from "./data.ts";

type Factor = FlowData["factors"][number];

/** Returns the `amr` claim of a session (RFC 8176) for its factors; a registration that proved nothing has none. */
export function amrOf(factors: readonly Factor[]): string[] {
  return factors.flatMap(({ method, provider }) =>
    method === "registration" ? [] : [methodOf(method).amr(provider)],
  );
}
