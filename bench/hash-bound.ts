import { verify } from "@node-rs/argon2";

/**
 * The bound of the hash: verifies a password as often as the machine can with nothing beside it. No server that verifies
 * passwords can sign in more of them.
 *
 * @param atOnce verifications at once: more than there are processors compete for their caches, and come to fewer
 * @returns verifications a second
 */
export async function hashesPerSecond(
  { password, passwordHash }: { password: string; passwordHash: string },
  atOnce: number,
  seconds: number,
): Promise<number> {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < begin + seconds * 1000) {
        await verify(passwordHash, password);
        done += 1;
      }
    }),
  );
  return (done / (performance.now() - begin)) * 1000;
}
