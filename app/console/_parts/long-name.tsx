import { Fragment } from "react";

/** A name of words between dots and underscores, which a narrow place breaks after them. */
export function LongName({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other name than its position.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
