import type { ComponentPropsWithRef, ReactNode } from "react";

interface CheckboxProps extends Omit<ComponentPropsWithRef<"input">, "className" | "type" | "value"> {
  children: ReactNode;
}

/** A checkbox. The form has `true` when it is checked, and no value otherwise. */
export function Checkbox({ children, ...rest }: CheckboxProps) {
  return (
    <label className="stile-checkbox">
      <input {...rest} className="stile-checkbox-box" type="checkbox" value="true" />
      <span>{children}</span>
    </label>
  );
}
