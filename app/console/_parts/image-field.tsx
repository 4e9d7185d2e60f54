"use client";

import { Button, FileButton, Group, Image, Input, Text } from "@mantine/core";
import { useId, useState } from "react";
import { words } from "../_words.ts";

const types = "image/png,image/jpeg,image/webp,image/svg+xml";

/** An image that is a setting: a `data:` address (RFC 2397). */
export function ImageField({
  label,
  description,
  error,
  disabled,
  maxLength = Number.POSITIVE_INFINITY,
  value,
  onChange,
}: {
  label: string;
  description?: string | undefined;
  error?: string | undefined;
  disabled: boolean;
  /** Of the address, in characters. */
  maxLength?: number | undefined;
  value: string | null;
  onChange(value: string | null): void;
}) {
  const id = useId();
  const [tooLong, setTooLong] = useState(false);
  const read = (file: File | null) => {
    if (!file) return;
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const address = String(reader.result);
      setTooLong(address.length > maxLength);
      if (address.length <= maxLength) onChange(address);
    });
    reader.readAsDataURL(file);
  };
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={tooLong ? words.settingField.imageTooLong(maxLength) : error}
      labelElement="div"
      labelProps={{ id }}
    >
      <Group gap="sm" mt={4} mih={44} role="group" aria-labelledby={id}>
        {value === null ? (
          <Text size="sm" c="dimmed">
            {words.none}
          </Text>
        ) : (
          <Image src={value} alt="" h={40} w="auto" maw={160} fit="contain" className="image-field" />
        )}
        <FileButton
          accept={types}
          onChange={read}
          disabled={disabled}
          inputProps={{ "aria-label": `${words.settingField.chooseImage} ${label}` }}
        >
          {(props) => (
            <Button
              {...props}
              variant="default"
              size="xs"
              disabled={disabled}
              aria-label={`${words.settingField.chooseImage} ${label}`}
            >
              {words.settingField.chooseImage}
            </Button>
          )}
        </FileButton>
        {value !== null && !disabled && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            onClick={() => {
              setTooLong(false);
              onChange(null);
            }}
            aria-label={`${words.remove} ${label}`}
          >
            {words.remove}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
