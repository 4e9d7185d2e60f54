import { type ComponentPropsWithRef, useState } from "react";
import { Icon } from "./icon.tsx";

interface PasswordInputProps extends Omit<ComponentPropsWithRef<"input">, "className" | "type"> {
  showLabel: string;
  hideLabel: string;
}

/** A password that can be revealed while typing (NIST SP 800-63B-4, 3.1.1.2). */
export function PasswordInput({ showLabel, hideLabel, ...rest }: PasswordInputProps) {
  const [shown, setShown] = useState(false);
  return (
    <div className="stile-password" dir="ltr">
      <input {...rest} className="stile-input" type={shown ? "text" : "password"} />
      <button
        type="button"
        className="stile-reveal"
        aria-label={shown ? hideLabel : showLabel}
        aria-controls={rest.id}
        onClick={() => setShown(!shown)}
      >
        <Icon name={shown ? "eye_off" : "eye"} />
      </button>
    </div>
  );
}
