import type { ComponentPropsWithRef } from "react";

/** One line of text. */
export function Input(props: Omit<ComponentPropsWithRef<"input">, "className">) {
  return <input {...props} className="stile-input" />;
}

/** Several lines of text. */
export function TextArea(props: Omit<ComponentPropsWithRef<"textarea">, "className">) {
  return <textarea {...props} className="stile-input stile-textarea" />;
}
