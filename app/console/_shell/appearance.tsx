"use client";

import {
  Badge,
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  MantineProvider,
  Modal,
  Notification,
  SegmentedControl,
} from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { ApiProvider } from "../_api/provider.tsx";
import { words } from "../_words.ts";
import { SignInAgain } from "./sign-in-again.tsx";

const closes = { closeButtonProps: { "aria-label": words.close } };

/** A window is a dialog, and its head no banner of the page (WAI-ARIA 1.2, `banner`). */
const windows = { ...closes, attributes: { header: { role: "presentation" } } };

/** The colours of the library whose text does not meet WCAG 2.2, 1.4.3. */
const readableColours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-red-filled": "var(--mantine-color-red-9)",
    "--mantine-color-red-filled-hover": "#b02525",
    // Also on a row that the pointer is on.
    "--mantine-color-anchor": "var(--mantine-color-indigo-9)",
    "--mantine-color-dimmed": "var(--mantine-color-gray-7)",
    "--mantine-color-placeholder": "var(--mantine-color-gray-7)",
    "--mantine-color-indigo-light-color": "#2b3fa3",
    "--mantine-color-red-light-color": "#a51d1d",
    "--mantine-color-teal-light-color": "#056046",
    "--mantine-color-yellow-light-color": "#7a3e00",
    "--mantine-color-orange-light-color": "#8a2c02",
    "--mantine-color-green-light-color": "#1d6628",
  },
  dark: {
    "--mantine-color-red-filled": "var(--mantine-color-red-9)",
    "--mantine-color-red-filled-hover": "#b02525",
    "--mantine-color-anchor": "var(--mantine-color-indigo-2)",
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "var(--mantine-color-dark-2)",
  },
});

/** Colours whose text meets WCAG 2.2, 1.4.3 on them in both schemes. */
const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily:
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: "600" },
  components: {
    // Its text is short, is not cut in a narrow column, and is written as everywhere else.
    Badge: Badge.extend({ defaultProps: { miw: "max-content", tt: "none" } }),
    Notification: Notification.extend({ defaultProps: closes }),
    Modal: Modal.extend({ defaultProps: windows }),
    Drawer: Drawer.extend({ defaultProps: windows }),
    SegmentedControl: SegmentedControl.extend({ styles: { label: { color: "var(--mantine-color-text)" } } }),
  },
});

/** The look of the console, and what its pages share. */
export function Appearance({ nonce, children }: { nonce: string; children: ReactNode }) {
  // Where the style element that keeps the page from scrolling behind a window takes its nonce (`get-nonce`).
  if (typeof window !== "undefined") Object.assign(window, { __webpack_nonce__: nonce });
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={readableColours}
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" />
      <SignInAgain>
        <ApiProvider>{children}</ApiProvider>
      </SignInAgain>
    </MantineProvider>
  );
}
