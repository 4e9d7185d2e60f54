/** A capability is absent if its check throws. */
export async function can(check: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch {
    return false;
  }
}

/** The options inside `request_options` and `creation_options`. The browser validates them. */
export function publicKeyOf<Options>(options: unknown): Options {
  const { publicKey } = (options ?? {}) as { publicKey?: Options };
  return publicKey ?? ({} as Options);
}
