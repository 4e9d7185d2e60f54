import type { ComponentPropsWithRef } from "react";

interface SelectProps extends Omit<ComponentPropsWithRef<"select">, "className" | "children"> {
  /** First entry, chosen until the person chooses another; stands for nothing. */
  placeholder: string;
  options: { label: string; value: string }[];
}

/** One of many, as the platform draws it. */
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
