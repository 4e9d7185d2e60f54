import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Which addresses a client may connect to. */
export interface LookupOptions {
  /** Accepts every address. */
  allowPrivate: boolean;
  /** Resolves names; default: the servers of the system. */
  resolver?: Pick<Resolver, "resolve4" | "resolve6" | "cancel">;
  /** Which addresses may be connected to; default: those of the public internet. */
  isAllowed?: (address: string) => boolean;
}

const DNS_TIMEOUT_MS = 2_000;

/** Thrown by the resolution of a name. */
class ForbiddenAddressError extends Error {}

/** Whether a connection failed because its address may not be connected to. */
export function isForbiddenAddress(error: unknown): boolean {
  const { errors = [] } = error as { errors?: unknown[] };
  return [error, ...errors].some((each) => each instanceof ForbiddenAddressError);
}

/**
 * Creates the resolution of names for requests to addresses that others have chosen (server-side request forgery; OWASP ASVS
 * 5.0, 1.3.6). Every address that a name resolves to is judged, and the connection is made to one of those: the name is not
 * resolved again.
 */
export function createPublicLookup({
  allowPrivate,
  resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 }),
  isAllowed = isPublicAddress,
}: LookupOptions) {
  /** `getaddrinfo` is for development: it would occupy the threads that hash passwords. */
  const lookup: LookupFunction = (name, options, callback) => {
    if (allowPrivate) return systemLookup(name, options, callback);
    resolve(resolver, name).then(
      (addresses) => {
        if (addresses.length === 0) return callback(dnsError("ENOTFOUND"), []);
        if (!addresses.every(({ address }) => isAllowed(address)))
          return callback(new ForbiddenAddressError(), []);
        const [first] = addresses;
        if (options.all || !first) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      () => callback(dnsError("EAI_AGAIN"), []),
    );
  };
  return {
    lookup,
    /** Judges a literal address, to which Node connects without a look-up. */
    mayConnectTo({ hostname }: URL): boolean {
      const host = hostname.replace(/^\[|\]$/g, "");
      return allowPrivate || isIP(host) === 0 || isAllowed(host);
    },
    /** Ends the look-ups under way. */
    cancel: () => resolver.cancel(),
  };
}

/** The addresses of a name. One of the two kinds suffices. */
async function resolve(
  resolver: Pick<Resolver, "resolve4" | "resolve6">,
  name: string,
): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (answers.every(({ status }) => status === "rejected")) throw dnsError("ENOTFOUND");
  return answers.flatMap((answer, index) =>
    answer.status === "rejected"
      ? []
      : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
}

const dnsError = (code: string) => Object.assign(new Error(code), { code });
