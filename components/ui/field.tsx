import { type ReactNode, useId } from "react";
import { Icon } from "./icon.tsx";

/** The attributes that connect a control with its field. */
export interface ControlAttributes {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

interface FieldProps {
  label: string;
  /** Shown after the label, for instance "optional". */
  remark?: string | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  children: (attributes: ControlAttributes) => ReactNode;
}

/** A label, a control, and below it the error or the hint. */
export function Field({ label, remark, hint, error, children }: FieldProps) {
  const id = useId();
  const below = error ?? hint;
  const describedBy = below === undefined ? {} : { "aria-describedby": `${id}-below` };
  const invalid = error === undefined ? {} : { "aria-invalid": true as const };
  return (
    <div className="stile-field">
      <label className="stile-label" htmlFor={id}>
        {label}
        {remark && <span className="stile-remark"> ({remark})</span>}
      </label>
      {children({ id, ...describedBy, ...invalid })}
      {below !== undefined && (
        <p className={error === undefined ? "stile-hint" : "stile-fault"} id={`${id}-below`}>
          {error !== undefined && <Icon name="alert" />}
          <span>{below}</span>
        </p>
      )}
    </div>
  );
}
