/**
 * The order of the rooms, lowest first. A module imports modules of its own room and of rooms before it, by value and by
 * type; rooms of one entry do not import each other. `npm run check` enforces it (`scripts/floors.ts`), and
 * `docs/architecture.md` draws it.
 *
 * A room is a folder, or a file that belongs to none. What a room needs of a later one is handed to it: composed in
 * `server/start`, declared as a narrow interface by the room that takes it.
 */
export const floors: readonly (readonly string[])[] = [
  ["server/failures", "server/lib", "server/observability", "packages/server/src/interface.ts", "words"],
  ["db"],
  ["server/locations"],
  ["server/config"],
  ["server/redirects"],
  ["server/objects", "server/webauthn"],
  ["server/context"],
  ["server/keys"],
  ["server/funnel"],
  ["server/limits", "server/database"],
  ["server/theme", "server/identity"],
  ["server/conditions", "server/jobs"],
  ["server/messages"],
  ["server/mail"],
  ["server/sms"],
  ["server/events"],
  ["server/audit"],
  ["server/sessions", "server/tenants"],
  ["server/passkey-server", "server/thirdparty", "server/methods"],
  ["server/authenticator"],
  ["server/account", "server/moving", "server/webhooks", "server/openid", "server/backup"],
  ["server/console"],
  ["server/admin"],
  ["server/runtime.ts"],
  ["server/runtime-slot.ts"],
  ["server/flow"],
  ["server/dry-run", "server/preview", "server/recorder"],
  ["server/replay"],
  ["server/testing/uaf-authenticator"],
  ["server/dev"],
  ["server/http"],
  ["server/start"],
  ["components"],
  ["hosted"],
  ["server/cli", "server/main.ts", "app", "instrumentation.ts", "proxy.ts"],
];

/** The arrows that run back up: types alone, by which the compiler asks the lower module for something. */
export const backwards: readonly { from: string; to: string; because: string }[] = [
  {
    from: "words/flow.ts",
    to: "server/flow/protocol-names.ts",
    because: "every language has words for every state, action and error",
  },
  {
    from: "words/mail.ts",
    to: "server/mail/messages.ts",
    because: "every language has words for every mail",
  },
  {
    from: "words/sms.ts",
    to: "server/sms/sms-job.ts",
    because: "every language has words for every SMS",
  },
  {
    from: "server/runtime.ts",
    to: "server/flow/observed-step.ts",
    because: "a process tells its observers of the steps that the engine answers",
  },
  {
    from: "server/runtime.ts",
    to: "server/flow/remembered-flows.ts",
    because: "a process remembers flows for the engine, as it keeps turns for it",
  },
];

/** What modules of some rooms do not import although it lies below them. */
export interface Restriction {
  /** Globs of the modules. */
  of: readonly string[];
  /** Globs of modules among them that it does not concern. */
  except?: readonly string[];
  /** Globs of modules, or names of packages, that they do not import. */
  not: readonly string[];
  /** Globs of modules that they import all the same. */
  but?: readonly string[];
  because: string;
}

const queries = ["db/**", "drizzle-orm", "drizzle-orm/*", "pg"];

export const restrictions: readonly Restriction[] = [
  {
    of: ["server/webauthn/**"],
    not: queries,
    because: "this room holds the protocol alone",
  },
  {
    of: [
      "server/flow/{advance,conflicts,errors,facts,graph,inputs,names,outcome,plan,show,situation,view}.ts",
    ],
    not: [...queries, "node:*"],
    but: ["db/errors.ts", "db/write.ts"],
    because: "this part of the engine is pure",
  },
  {
    of: ["server/{http,dev}/**", "hosted/**", "app/**"],
    not: queries,
    but: ["db/errors.ts"],
    because: "interfaces and pages translate; queries and transactions belong to a feature",
  },
  {
    of: ["server/**"],
    except: ["server/http/**", "server/start/**"],
    not: ["next", "next/*", "@trpc/*", "@trpc/*/**", "hono", "@hono/*"],
    because: "the interfaces alone know how they are served",
  },
  {
    of: ["server/**", "hosted/**", "app/**"],
    except: ["server/dev/**", "server/http/dev/**"],
    not: ["server/dev/**"],
    because: "only the addresses of development use what only development serves",
  },
  {
    of: ["server/**", "hosted/**", "app/**"],
    except: ["server/{dev,testing}/**"],
    not: ["server/testing/uaf-authenticator/**"],
    because: "the authenticator of the testing kit is played by development alone",
  },
  {
    of: ["server/dev/**"],
    not: ["server/flow/**"],
    because: "pages of development show what the service holds; they run no flows",
  },
  {
    of: ["server/cli/**"],
    not: ["server/http/**", "components/**", "hosted/**"],
    but: ["components/flow/{words,variants}.ts"],
    because: "the commands are an interface of their own, and draw flows in a terminal",
  },
  {
    of: ["components/**"],
    not: ["server/**", "db/**", "zod"],
    but: ["server/flow/{wire,names,protocol-names}.ts", "server/http/trpc/router.ts"],
    because:
      "components run in browsers: they know the shapes that the server answers, and nothing else of it",
  },
  {
    of: ["components/**"],
    not: ["words/**"],
    but: ["words/{flow,with-texts,direction,confirmation,frame}.ts"],
    because: "components are handed the words of one language: importing any would send them all to browsers",
  },
];
