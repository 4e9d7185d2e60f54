"use client";

import {
  ColorInput,
  ColorSwatch,
  Input,
  isColorValid,
  JsonInput,
  MultiSelect,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useId } from "react";
import { words } from "../_words.ts";
import type { DeclaredSetting } from "./declared-settings.ts";
import { ImageField } from "./image-field.tsx";

/** Texts that are longer than this are written in several lines. */
const MAX_LINE = 4096;

interface Props {
  label: string;
  /** What the setting means, and its bounds. */
  description?: string | undefined;
  declared: DeclaredSetting;
  /** Null or undefined: it is not set, and has its default. */
  value: unknown;
  /** Whether it is a secret, and one is set: it is written, and never shown. */
  secret?: "set" | "unset" | undefined;
  disabled?: boolean;
  /** What the service said against the value. */
  error?: string | undefined;
  /** What stands in an empty field: the value without one. Default: that there is a default. */
  placeholder?: string | undefined;
  onChange(value: unknown): void;
}

/** The input of a setting, of the kind that its schema asks for. Null is the default. */
export function SettingField({
  label,
  description,
  declared,
  value,
  secret,
  disabled = false,
  error,
  placeholder = words.settingField.default,
  onChange,
}: Props) {
  const types = [declared.type ?? []].flat().filter((type) => type !== "null");
  const id = useId();
  const common = { label, description, disabled, error };
  const clears = { clearable: true, clearButtonProps: { "aria-label": `${words.clear} ${label}` } };
  if (secret)
    return (
      <PasswordInput
        {...common}
        placeholder={secret === "set" ? words.settingField.secretSet : words.settingField.secretUnset}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": words.settingField.show }}
        maxLength={declared.maxLength}
        value={typeof value === "string" ? value : ""}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === "" ? undefined : currentTarget.value)
        }
      />
    );
  if (types.length === 1 && types[0] === "boolean")
    return (
      <Input.Wrapper
        label={label}
        description={description}
        error={error}
        labelElement="div"
        labelProps={{ id }}
      >
        <div>
          <SegmentedControl
            mt={4}
            aria-labelledby={id}
            disabled={disabled}
            value={typeof value === "boolean" ? String(value) : ""}
            onChange={(chosen) => onChange(chosen === "" ? null : chosen === "true")}
            data={[
              { value: "", label: words.settingField.default },
              { value: "true", label: words.settingField.on },
              { value: "false", label: words.settingField.off },
            ]}
          />
        </div>
      </Input.Wrapper>
    );
  const choices = declared.enum?.filter((choice) => typeof choice === "string");
  if (choices)
    return (
      <Select
        {...common}
        {...clears}
        placeholder={placeholder}
        data={choices}
        value={typeof value === "string" ? value : null}
        onChange={onChange}
      />
    );
  if (types.length === 1 && types[0] === "array" && declared.items?.type === "string") {
    const list = Array.isArray(value) ? (value as string[]) : [];
    const change = (chosen: string[]) => onChange(chosen.length > 0 ? chosen : null);
    const shown = { placeholder: list.length === 0 ? placeholder : undefined };
    const offered = declared.items.enum?.filter((choice) => typeof choice === "string");
    return offered ? (
      <MultiSelect {...common} {...clears} {...shown} data={offered} value={list} onChange={change} />
    ) : (
      <TagsInput
        {...common}
        {...clears}
        {...shown}
        {...(declared.maxItems ? { maxTags: declared.maxItems } : {})}
        value={list}
        onChange={change}
      />
    );
  }
  if (types.length === 1 && (types[0] === "integer" || types[0] === "number"))
    return (
      <NumberInput
        {...common}
        placeholder={placeholder}
        {...(declared.minimum === undefined ? {} : { min: declared.minimum })}
        {...(declared.maximum === undefined ? {} : { max: declared.maximum })}
        allowDecimal={types[0] === "number"}
        value={typeof value === "number" ? value : ""}
        onChange={(number) => onChange(typeof number === "number" ? number : null)}
      />
    );
  if (declared.format === "color")
    return (
      <ColorInput
        {...common}
        placeholder={placeholder}
        // The library shows an empty field as white.
        {...(typeof value === "string"
          ? {}
          : isColorValid(placeholder)
            ? { leftSection: <ColorSwatch color={placeholder} size={18} /> }
            : { withPreview: false })}
        eyeDropperButtonProps={{ "aria-label": words.settingField.pickColor(label) }}
        value={typeof value === "string" ? value : ""}
        onChange={(color) => onChange(color === "" ? null : color)}
      />
    );
  if (declared.format === "image")
    return (
      <ImageField
        {...common}
        maxLength={declared.maxLength}
        value={typeof value === "string" ? value : null}
        onChange={onChange}
      />
    );
  if (types.includes("string") && !types.includes("object") && !types.includes("array")) {
    const takesNumbers = types.includes("number");
    const text = {
      ...common,
      placeholder,
      maxLength: declared.maxLength,
      value: value === null || value === undefined ? "" : String(value),
      onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
        onChange(
          takesNumbers && /^\d+$/.test(currentTarget.value)
            ? Number(currentTarget.value)
            : currentTarget.value || null,
        ),
    };
    return (declared.maxLength ?? 0) > MAX_LINE ? (
      <Textarea {...text} autosize minRows={2} maxRows={10} />
    ) : (
      <TextInput {...text} />
    );
  }
  return <JsonField {...common} value={value} onChange={onChange} />;
}

/** A setting with members of its own, written as JSON. Text that is not JSON is no change yet. */
function JsonField({
  value,
  onChange,
  ...common
}: Pick<Props, "label" | "description" | "disabled" | "error" | "value" | "onChange">) {
  return (
    <JsonInput
      {...common}
      placeholder={words.settingField.default}
      autosize
      minRows={2}
      maxRows={14}
      formatOnBlur
      validationError={words.settingField.noJson}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      defaultValue={value === null || value === undefined ? "" : JSON.stringify(value, null, 2)}
      onChange={(text) => {
        const parsed = parsedJson(text);
        if (parsed !== undefined) onChange(parsed);
      }}
    />
  );
}

/** @returns null for an empty text; undefined for one that is not JSON */
function parsedJson(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
