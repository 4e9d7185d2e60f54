import type { ComponentPropsWithRef } from "react";

interface SelectProps extends Omit<ComponentPropsWithRef<"select">, "className" | "children"> {
  /** The first entry, selected by default; it has no value. */
  placeholder: string;
  options: { label: string; value: string }[];
}

/** A select as the platform draws it. */
export function Select({ placeholder, options, ...rest }: SelectProps) {
  return (
    <select {...rest} className="stile-input stile-select">
      <option value="">{placeholder}</option>
      {options.map(({ label, value }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
