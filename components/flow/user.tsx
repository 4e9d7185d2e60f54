import type { FlowWords } from "#words/flow";
import { Breakable } from "../ui/breakable.tsx";
import { Avatar } from "./avatar.tsx";
import { isText, nameOf } from "./payload-readers.ts";

/** The user by name, and by the picture that was uploaded here. */
export function User({
  value,
  words,
  base,
  path,
}: {
  value: unknown;
  words: FlowWords;
  /** Prefix of the addresses of this service. */
  base: string;
  /** Path of the user's picture. */
  path: unknown;
}) {
  const name = nameOf(value);
  if (name === null) return null;
  return (
    <p className="stile-user">
      <Avatar address={isText(path) ? `${base}${path}` : null} name={name} />
      <span className="stile-user-text">
        <span className="stile-hint">{words.page.signedInAs}</span>
        <strong dir="auto">
          <Breakable text={name} />
        </strong>
      </span>
    </p>
  );
}
