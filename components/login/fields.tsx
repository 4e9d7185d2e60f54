import type { ReactNode } from "react";
import type { FlowError, InputDescriptor } from "#server/flow/wire";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { CodeInput } from "../ui/code-input.tsx";
import { Field as LabelledField } from "../ui/field.tsx";
import { Input, TextArea } from "../ui/input.tsx";
import { PasswordInput } from "../ui/password-input.tsx";
import { Select } from "../ui/select.tsx";
import type { FlowType } from "./flow-server.ts";
import { formValue } from "./input-data.ts";
import { errorText, fill, inputWords, type Words } from "./words/words.ts";

export interface FieldProps {
  input: InputDescriptor;
  words: Words;
  flow: FlowType;
  /** What is wrong with it: found by the page, or answered by the server. */
  error: FlowError | undefined;
  /** It is the only thing to fill in. */
  alone: boolean;
  /** A step is being performed. */
  busy: boolean;
  /** Counts the answers to what the person did. */
  turn: number;
}

interface FieldKind {
  matches(input: InputDescriptor, alone: boolean): boolean;
  draw(props: FieldProps): ReactNode;
  /** It sends the form itself, so that the form needs no button. */
  submits?: true;
}

/** More values than this are easier to find in a list than on a row of buttons. */
const mostButtons = 6;

/** Input → field; the first that matches draws it. */
const kinds: FieldKind[] = [
  { matches: (input) => input.hidden === true, draw: HiddenField },
  {
    matches: (input, alone) =>
      alone && (input.allowed_values?.length ?? Number.POSITIVE_INFINITY) <= mostButtons,
    draw: ButtonsField,
    submits: true,
  },
  { matches: (input) => input.allowed_values !== undefined, draw: SelectField },
  { matches: (input) => input.type === "boolean", draw: CheckboxField },
  { matches: (input) => input.type === "password", draw: PasswordField },
  { matches: (input) => input.type === "json", draw: JsonField },
  {
    matches: (input) => input.type === "string" && input.min_length === 6 && input.max_length === 6,
    draw: CodeField,
  },
  { matches: () => true, draw: TextField },
];

/** Draws one input of an action. */
export function Field(props: FieldProps) {
  return kindOf(props.input, props.alone).draw(props);
}

/** Whether the field of this input sends the form by itself. */
export function submitsItself(input: InputDescriptor, alone: boolean): boolean {
  return kindOf(input, alone).submits === true;
}

function kindOf(input: InputDescriptor, alone: boolean): FieldKind {
  const kind = kinds.find(({ matches }) => matches(input, alone));
  if (!kind) throw new Error("the last kind of field matches every input");
  return kind;
}

function HiddenField({ input }: FieldProps) {
  const preset = formValue(input.value);
  return preset === "" ? null : <input type="hidden" name={input.name} value={preset} />;
}

function ButtonsField({ input, words, busy }: FieldProps) {
  return (
    <fieldset className="stile-choices">
      <legend className="stile-label">{inputWords(words, input.name).label}</legend>
      {input.allowed_values?.map(({ name, value }) => (
        <Button
          key={name}
          tone="choice"
          type="submit"
          name={input.name}
          value={formValue(value)}
          disabled={busy}
        >
          {name}
        </Button>
      ))}
    </fieldset>
  );
}

function SelectField(props: FieldProps) {
  const { input, words } = props;
  return (
    <LabelledField {...around(props)}>
      {(attributes) => (
        <Select
          {...attributes}
          name={input.name}
          required={input.required === true}
          defaultValue={formValue(input.value)}
          placeholder={words.page.choose}
          options={(input.allowed_values ?? []).map(({ name, value }) => ({
            label: name,
            value: formValue(value),
          }))}
        />
      )}
    </LabelledField>
  );
}

function CheckboxField({ input, words }: FieldProps) {
  return (
    <Checkbox name={input.name} defaultChecked={input.value === true}>
      {inputWords(words, input.name).label}
    </Checkbox>
  );
}

function PasswordField(props: FieldProps) {
  const { input, words } = props;
  return (
    <LabelledField {...around(props)}>
      {(attributes) => (
        <PasswordInput
          {...attributes}
          name={input.name}
          required={input.required === true}
          minLength={input.min_length}
          autoComplete={input.name.startsWith("new") ? "new-password" : "current-password"}
          autoCapitalize="none"
          spellCheck={false}
          showLabel={words.page.showPassword}
          hideLabel={words.page.hidePassword}
        />
      )}
    </LabelledField>
  );
}

function CodeField(props: FieldProps) {
  const { input, turn } = props;
  return (
    <LabelledField {...around(props)}>
      {(attributes) => (
        <CodeInput
          {...attributes}
          // A code that was answered is typed anew, not repaired.
          key={turn}
          name={input.name}
          required={input.required === true}
          length={6}
          onComplete={(element) => element.form?.requestSubmit()}
        />
      )}
    </LabelledField>
  );
}

function JsonField(props: FieldProps) {
  const { input } = props;
  return (
    <LabelledField {...around(props)}>
      {(attributes) => (
        <TextArea
          {...attributes}
          name={input.name}
          required={input.required === true}
          defaultValue={formValue(input.value)}
          spellCheck={false}
          rows={4}
        />
      )}
    </LabelledField>
  );
}

const htmlTypes: Partial<Record<InputDescriptor["type"], string>> = { email: "email", number: "number" };

/** Inputs by which people are known, under the names that password managers listen to (HTML, 4.10.18.7.1). */
const autocompletes: Record<string, Record<FlowType, string>> = {
  identifier: { login: "username webauthn", registration: "username" },
  email: { login: "username webauthn", registration: "email" },
  username: { login: "username webauthn", registration: "username" },
};

function TextField(props: FieldProps) {
  const { input, flow } = props;
  const known = Object.hasOwn(autocompletes, input.name) ? autocompletes[input.name] : undefined;
  return (
    <LabelledField {...around(props)}>
      {(attributes) => (
        <Input
          {...attributes}
          {...(known ? { autoCapitalize: "none", spellCheck: false } : {})}
          name={input.name}
          type={htmlTypes[input.type] ?? "text"}
          inputMode={input.type === "email" || input.name === "email" ? "email" : undefined}
          required={input.required === true}
          minLength={input.min_length}
          defaultValue={formValue(input.value)}
          autoComplete={known?.[flow] ?? "on"}
        />
      )}
    </LabelledField>
  );
}

/** What stands around a control: its label, whether it may stay empty, and what helps or is wrong. */
function around({ input, words, error }: FieldProps) {
  const { label, hint } = inputWords(words, input.name);
  return {
    label,
    remark: input.required ? undefined : words.page.optional,
    hint:
      hint && input.min_length !== undefined
        ? fill(hint, { min: input.min_length, max: input.max_length })
        : undefined,
    error: error && errorText(words, error, input),
  };
}
