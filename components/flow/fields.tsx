import type { ReactNode } from "react";
import type { ActionName, InputName } from "#server/flow/protocol-names";
import type { FlowError, InputDescriptor } from "#server/flow/wire";
import type { FlowWords } from "#words/flow";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { CodeInput } from "../ui/code-input.tsx";
import { Field as LabelledField } from "../ui/field.tsx";
import { Input, TextArea } from "../ui/input.tsx";
import { PasswordInput } from "../ui/password-input.tsx";
import { ProviderMark } from "../ui/provider-mark.tsx";
import { Select } from "../ui/select.tsx";
import { isChoice, presetOf } from "./action-layout.ts";
import type { FlowType } from "./flow-server.ts";
import { formValue } from "./input-data.ts";
import type { PageValues } from "./view-context.ts";
import { errorText, inputLabel, inputWords, interpolate } from "./words.ts";

export interface FieldProps {
  input: InputDescriptor;
  words: FlowWords;
  flow: FlowType;
  /** The name of the action that takes the input. */
  action: string;
  /** The error of this input, found by the page or given by the server. */
  error: FlowError | undefined;
  /** It is the only visible input of the action. */
  isOnlyInput: boolean;
  /** A step is in progress. */
  busy: boolean;
  /** Counts answers; a change empties a code field. */
  answerCount: number;
  pageValues: PageValues;
  /** Another form that carries the field, and what its buttons do there. */
  carrier?: { form: string; formAction: string; formNoValidate: boolean } | undefined;
}

interface FieldKind {
  matches(input: InputDescriptor, isOnlyInput: boolean, pageValues: PageValues): boolean;
  draw(props: FieldProps): ReactNode;
  /** The field submits the form, so the form needs no button. */
  submits?: true;
}

/** A select replaces the row of buttons above this number of values. */
const MAX_BUTTONS = 9;

/** Input → field; the first match draws it. */
const kinds: FieldKind[] = [
  {
    matches: (input, _, pageValues) => input.hidden === true && !isChoice(input, pageValues),
    draw: HiddenField,
  },
  {
    matches: (input) => input.name === "provider" && input.allowed_values !== undefined,
    draw: ProvidersField,
    submits: true,
  },
  {
    matches: (input, isOnlyInput) =>
      isOnlyInput && (input.allowed_values?.length ?? Number.POSITIVE_INFINITY) <= MAX_BUTTONS,
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
  return kindOf(props.input, props.isOnlyInput, props.pageValues).draw(props);
}

/** Whether the field of this input submits the form. */
export function submitsItself(input: InputDescriptor, isOnlyInput: boolean, pageValues: PageValues): boolean {
  return kindOf(input, isOnlyInput, pageValues).submits === true;
}

function kindOf(input: InputDescriptor, isOnlyInput: boolean, pageValues: PageValues): FieldKind {
  const kind = kinds.find(({ matches }) => matches(input, isOnlyInput, pageValues));
  if (!kind) throw new Error("the last kind of field matches every input");
  return kind;
}

function HiddenField({ input, pageValues }: FieldProps) {
  const preset = formValue(presetOf(input, pageValues));
  return preset === "" ? null : <input type="hidden" name={input.name} value={preset} />;
}

/** How the value begins that stands for what belongs to the session. */
const OF_SESSION = "session.";

function ButtonsField({ input, words, busy, carrier }: FieldProps) {
  const { label, hint } = inputWords(words, input.name);
  return (
    <fieldset className="stile-choices">
      <legend className="stile-label">{label}</legend>
      {input.allowed_values?.map(({ name, value }) => (
        <Button
          key={formValue(value)}
          tone="choice"
          type="submit"
          name={input.name}
          value={formValue(value)}
          hint={formValue(value).startsWith(OF_SESSION) ? hint : undefined}
          disabled={busy}
          {...carrier}
        >
          {name}
        </Button>
      ))}
    </fieldset>
  );
}

/** A button for each provider, in the order of the server. */
function ProvidersField({ input, words, action, busy, carrier }: FieldProps) {
  const values = input.allowed_values ?? [];
  const connects = action === ("connect_thirdparty_oauth_provider" satisfies ActionName);
  const sentence = connects ? words.page.connectWith : words.page.continueWith;
  return (
    <fieldset className="stile-providers">
      <legend className="stile-hidden">{inputWords(words, input.name).label}</legend>
      {values.map(({ name, value }) => (
        <Button
          key={formValue(value)}
          tone="secondary"
          type="submit"
          name={input.name}
          value={formValue(value)}
          disabled={busy}
          {...carrier}
          mark={<ProviderMark provider={formValue(value)} name={name} />}
        >
          {interpolate(sentence, { provider: name })}
        </Button>
      ))}
    </fieldset>
  );
}

function SelectField(props: FieldProps) {
  const { input, words } = props;
  return (
    <LabelledField {...fieldTexts(props)}>
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

/** Boxes that are checked unless the server presets them: a preset is sent by clients that do not show the input. */
const checkedInputs = new Set<string>(["end_other_sessions"] satisfies InputName[]);

function CheckboxField({ input, words, carrier }: FieldProps) {
  return (
    <Checkbox
      name={input.name}
      form={carrier?.form}
      defaultChecked={(input.value ?? checkedInputs.has(input.name)) === true}
    >
      {inputWords(words, input.name).label}
    </Checkbox>
  );
}

function PasswordField(props: FieldProps) {
  const { input, words } = props;
  return (
    <LabelledField {...fieldTexts(props)}>
      {(attributes) => (
        <PasswordInput
          {...attributes}
          name={input.name}
          required={input.required === true}
          minLength={input.min_length}
          autoComplete={isNew(input) ? "new-password" : "current-password"}
          autoCapitalize="none"
          spellCheck={false}
          showLabel={words.page.showPassword}
          hideLabel={words.page.hidePassword}
        />
      )}
    </LabelledField>
  );
}

/** Whether a password is being set: only then does its input announce a minimum length. */
function isNew({ type, min_length }: InputDescriptor): boolean {
  return type === "password" && min_length !== undefined;
}

function CodeField(props: FieldProps) {
  const { input, answerCount } = props;
  return (
    <LabelledField {...fieldTexts(props)}>
      {(attributes) => (
        <CodeInput
          {...attributes}
          // The field is emptied after each answer.
          key={answerCount}
          name={input.name}
          required={input.required === true}
          length={6}
          charset={input.charset ?? "numeric"}
          onComplete={(element) => element.form?.requestSubmit()}
        />
      )}
    </LabelledField>
  );
}

function JsonField(props: FieldProps) {
  const { input } = props;
  return (
    <LabelledField {...fieldTexts(props)}>
      {(attributes) => (
        <TextArea
          {...attributes}
          name={input.name}
          required={input.required === true}
          defaultValue={formValue(input.value)}
          spellCheck={false}
          dir="ltr"
          rows={4}
        />
      )}
    </LabelledField>
  );
}

interface TextInput {
  /** The autofill name (HTML, 4.10.18.7.1). */
  autofill: string;
  /** The same in a login, where a passkey may be offered in its place. */
  ofLogin?: string;
  /** Whether letters and spelling stay as they are typed. */
  isExact?: true;
  /** Whether it is written from left to right in every language, as addresses and codes are. */
  isLatin?: true;
}

const identifying = { ofLogin: "username webauthn", isExact: true, isLatin: true } as const;

/** Inputs of text whose kind the browser is told. */
const textInputs: Partial<Record<string, TextInput>> = {
  identifier: { autofill: "username", ...identifying },
  email: { autofill: "email", ...identifying },
  username: { autofill: "username", ...identifying },
  recovery_code: { autofill: "off", isExact: true, isLatin: true },
  passkey_name: { autofill: "off", isExact: true },
  name: { autofill: "name" },
  given_name: { autofill: "given-name" },
  family_name: { autofill: "family-name" },
  phone: { autofill: "tel" },
} satisfies Partial<Record<InputName | "identifier", TextInput>>;

function TextField(props: FieldProps) {
  const { input, flow } = props;
  const { isExact, isLatin, autofill = "on", ofLogin } = textInputs[input.name] ?? ({} as Partial<TextInput>);
  return (
    <LabelledField {...fieldTexts(props)}>
      {(attributes) => (
        <Input
          {...attributes}
          {...(isExact ? { autoCapitalize: "none", spellCheck: false } : {})}
          dir={isLatin || input.type === "number" ? "ltr" : undefined}
          name={input.name}
          type={/^(email|tel|number)$/.test(input.type) ? input.type : "text"}
          inputMode={input.type === "email" || input.name === "email" ? "email" : undefined}
          required={input.required === true}
          minLength={input.min_length}
          maxLength={input.max_length}
          defaultValue={formValue(input.value)}
          autoComplete={(flow === "login" && ofLogin) || autofill}
        />
      )}
    </LabelledField>
  );
}

/** The label, remark, hint and error of a field. */
function fieldTexts({ input, words, error }: FieldProps) {
  const name = isNew(input) ? "new_password" : input.name;
  const { hint } = inputWords(words, name);
  return {
    label: inputLabel(words, name, input.accepts),
    remark: input.required ? undefined : words.page.optional,
    hint:
      hint && input.min_length !== undefined
        ? interpolate(hint, { min: input.min_length, max: input.max_length })
        : undefined,
    error: error && errorText(words, error, { ...input, name }),
  };
}
