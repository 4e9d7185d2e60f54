import type { Language } from "#words/language-tags";

/** Where a user meets a flow: our page, a frame of it, an element in another origin's page, or a client of its own. */
export const embeddings = ["page", "frame", "element", "client"] as const;

export type Embedding = (typeof embeddings)[number];

/** The client of a request, as far as its connection and headers tell. */
export interface Client {
  /** Canonical address, after trusted proxies. */
  ip: string;
  /** Key of the client's rate limits: the IPv4 address, or the IPv6 /64. */
  source: string;
  userAgent: string;
  /** Language of mails; English if the request names an unknown one, null if it names none. */
  language: Language | null;
  requestId: string;
  /** `Origin` header; null if absent. */
  origin: string | null;
  /** States and verifiers of pending provider sign-ins that this browser holds. */
  thirdPartyStates?: readonly string[];
  /** Cookie of a trusted device: entries of `<user id>:<token>` joined by `|`, newest first. */
  deviceCookie: string | null;
  /** Sealed cookie of the accounts that this browser has signed in to before. */
  markCookie: string | null;
  embedding: Embedding;
  /** Id of the API key that authorizes the request, for the audit log. */
  apiKey?: string;
  /** The account of the console that makes the request, for the audit log. */
  operator?: { tenantId: string; userId: string };
}

/** The party that acts: the client of a request, an operator who uses the CLI, or the worker that runs a job. */
export type Actor = Pick<Client, "apiKey" | "operator"> & {
  ip: string | null;
  userAgent: string;
  requestId: string | null;
};

/** Cookies that the answer sets or removes in the browser. */
export interface CookieChanges {
  /** Value of the cookie of a trusted device, and its lifetime in seconds. */
  device?: { value: string; seconds: number };
  /** Value of the cookie of the accounts that this browser has signed in to, and its lifetime in seconds. */
  mark?: { value: string; seconds: number };
  /** State of a request to an identity provider, which the callback must find in the same browser. */
  thirdPartyState?: { value: string; seconds: number };
  /** The session has ended, so its cookie is removed. */
  session?: "ended";
}
