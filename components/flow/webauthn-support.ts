/** Time after which a check has no answer: the first step of a flow waits for it, and extensions replace such functions. */
const CHECK_TIMEOUT_MS = 3_000;

/** A capability is absent if its check throws, or does not answer. */
export async function can(check: () => boolean | Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false);
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** The options inside `request_options` and `creation_options`. The browser validates them. */
export function publicKeyOf<Options>(options: unknown): Options {
  const { publicKey } = (options ?? {}) as { publicKey?: Options };
  return publicKey ?? ({} as Options);
}
