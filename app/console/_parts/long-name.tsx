import { Fragment } from "react";

/** A name of a setting, which a narrow place breaks between its words. */
export function SettingName({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other name than its position.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
