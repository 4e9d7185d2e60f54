import type { ComponentPropsWithRef, ReactNode } from "react";

interface CheckboxProps extends Omit<ComponentPropsWithRef<"input">, "className" | "type" | "value"> {
  children: ReactNode;
}

/** A yes or no. A form gets `true` when it is ticked, and nothing when it is not. */
export function Checkbox({ children, ...rest }: CheckboxProps) {
  return (
    <label className="stile-checkbox">
      <input {...rest} className="stile-checkbox-box" type="checkbox" value="true" />
      <span>{children}</span>
    </label>
  );
}
