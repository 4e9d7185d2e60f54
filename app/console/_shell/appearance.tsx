"use client";

import { createTheme, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { ApiProvider } from "../_api/provider.tsx";
import { SignInAgain } from "./sign-in-again.tsx";

/** Colours whose text meets WCAG 2.2, 1.4.3 on them in both schemes. */
const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily:
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: "600" },
});

/** The look of the console, and what its pages share. */
export function Appearance({ nonce, children }: { nonce: string; children: ReactNode }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notifications position="bottom-right" />
      <SignInAgain>
        <ApiProvider>{children}</ApiProvider>
      </SignInAgain>
    </MantineProvider>
  );
}
