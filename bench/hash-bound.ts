import { verify } from "@node-rs/argon2";

/**
 * The bound of the hash, in a process of its own: verifies a password as often as it can, with nothing beside it, and
 * sends how often. No server that verifies passwords can sign in more of them.
 */
export interface HashTask {
  password: string;
  hash: string;
  /** Verifications at once: more than there are processors compete for their caches, and come to fewer. */
  atOnce: number;
  seconds: number;
}

process.on("message", async ({ password, hash, atOnce, seconds }: HashTask) => {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < begin + seconds * 1000) {
        await verify(hash, password);
        done += 1;
      }
    }),
  );
  process.send?.({ done, elapsedMs: performance.now() - begin });
});
process.on("disconnect", () => process.exit(0));
