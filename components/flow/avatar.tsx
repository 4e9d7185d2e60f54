/** The picture of a person, else the initials. Only for the eye: the name is beside it. */
export function Avatar({ address, name }: { address: string | null; name: string }) {
  return (
    <span className="stile-user-initial" aria-hidden="true">
      {address === null ? (
        initialsOf(name)
      ) : (
        // biome-ignore lint/performance/noImgElement: the picture is small, and there is nothing to optimise
        <img src={address} alt="" width={48} height={48} decoding="async" referrerPolicy="no-referrer" />
      )}
    </span>
  );
}

/** The first letters of the first and the last word of a name; empty if it has none. Of an address, what is before the @. */
export function initialsOf(name: string): string {
  const words = name
    .replace(/@.*$/u, "")
    .split(/[\s._-]+/u)
    .filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map((word) => [...(word ?? "")][0]?.toLocaleUpperCase("und") ?? "").join("");
}
