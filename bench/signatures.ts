import { generateKeyPairSync, randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { type Algorithm, signJwt, verifyJwt } from "../server/keys/jwt.ts";
import { publishedKey } from "../server/keys/signing-keys.ts";
import { createVerifiedSignatures } from "../server/keys/verified-signatures.ts";
import { percentile } from "./figures.ts";

/**
 * `node scripts/run.js bench/signatures.ts`: what each of `session.algorithm` costs one thread. Prints microseconds for
 * signing a session token, verifying one, and verifying one that was seen before; medians of the rounds, which take turns.
 * Beside them the length of a token and of its published key, and the milliseconds in which a key is made.
 *
 * `SIGNATURES_SECONDS` (0.5) of a round, `SIGNATURES_ROUNDS` (9).
 */
const seconds = Number(process.env.SIGNATURES_SECONDS ?? 0.5);
const rounds = Number(process.env.SIGNATURES_ROUNDS ?? 9);

const KEYS_MADE = 9;

const pairs = {
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
} satisfies Record<Algorithm, unknown>;

const now = new Date();
const iat = Math.floor(now.getTime() / 1000);
const claims = {
  iss: "https://login.example.com",
  aud: ["login.example.com"],
  sub: randomUUID(),
  session_id: randomUUID(),
  iat,
  exp: iat + 12 * 3600,
  amr: ["pwd", "otp"],
};
const expected = { typ: "JWT", audience: claims.aud, issuer: claims.iss, now };

/** Returns the milliseconds that a call takes on average. */
function timed(call: () => unknown, forSeconds: number): number {
  const begin = performance.now();
  let calls = 0;
  do {
    call();
    calls += 1;
  } while (performance.now() < begin + forSeconds * 1000);
  return (performance.now() - begin) / calls;
}

const measured = (Object.keys(pairs) as Algorithm[]).map((algorithm) => {
  const made = Array.from({ length: KEYS_MADE }, () => timed(pairs[algorithm], 0));
  const key = { id: randomUUID(), algorithm, ...pairs[algorithm]() };
  const token = signJwt(key, "JWT", claims);
  const seen = createVerifiedSignatures();
  const calls = [
    () => signJwt(key, "JWT", claims),
    () => verifyJwt(token, key, expected),
    () => verifyJwt(token, key, expected, seen),
  ];
  if (calls.some((call) => !call())) throw new Error(`${algorithm} does not work`);
  const publicJwk = key.publicKey.export({ format: "jwk" });
  const characters = [token, JSON.stringify(publishedKey({ ...key, publicJwk }))].map(({ length }) => length);
  return { algorithm, calls: calls.map((call) => ({ call, times: [] as number[] })), characters, made };
});

for (let round = -1; round < rounds; round += 1)
  for (const { calls } of measured)
    for (const { call, times } of calls) {
      const time = timed(call, seconds);
      // The first round warms up.
      if (round >= 0) times.push(time);
    }

process.stdout.write(`${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}\n`);
process.stdout.write(
  "| | sign, µs | verify, µs | seen before, µs | token | published key | key made, ms |\n|---|--:|--:|--:|--:|--:|--:|\n",
);
for (const { algorithm, calls, characters, made } of measured) {
  const times = calls.map((one) => (percentile(one.times, 0.5) * 1000).toFixed(0));
  const cells = [...times, ...characters, percentile(made, 0.5).toFixed(2)];
  process.stdout.write(`| ${algorithm} | ${cells.join(" | ")} |\n`);
}
