"use client";

import {
  Autocomplete,
  Badge,
  Button,
  ColorPicker,
  type CSSVariablesResolver,
  createTheme,
  Drawer,
  MantineProvider,
  Menu,
  Modal,
  MultiSelect,
  Notification,
  Popover,
  SegmentedControl,
  Select,
  Tabs,
  TagsInput,
} from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { ApiProvider } from "../_api/provider.tsx";
import { words } from "../_words.ts";
import { SignInAgain } from "./sign-in-again.tsx";

/** The id of what holds menus and lists while they are open: they belong to the page, and so to its landmark. */
export const FLOATING = "floating";

/** The list of choices itself scrolls: it is walked from its field, by the arrows. */
const lists = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 260, overflowY: "auto" } },
} as const;

/** On a phone a row of choices is moved by the finger, and has no bar. */
const scrolled = { overflowX: "auto", overflowY: "hidden", scrollbarWidth: "none" } as const;

const closes = { closeButtonProps: { "aria-label": words.close } };

/** A window is a dialog, and its head no banner of the page (WAI-ARIA 1.2, `banner`). */
const windows = { ...closes, attributes: { header: { role: "presentation" } } };

const windowStyles = { title: { fontWeight: 600, lineHeight: 1.35 } };

/** The colours of the library whose text does not meet WCAG 2.2, 1.4.3. */
const readableColours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-error": "var(--mantine-color-red-9)",
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
    "--mantine-color-error": "var(--mantine-color-red-4)",
    "--mantine-color-red-filled": "var(--mantine-color-red-9)",
    "--mantine-color-red-filled-hover": "#b02525",
    "--mantine-color-anchor": "var(--mantine-color-indigo-2)",
    "--mantine-color-dimmed": "var(--mantine-color-dark-1)",
    "--mantine-color-placeholder": "#a3a3a3",
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
    Popover: Popover.extend({ defaultProps: { portalProps: { target: `#${FLOATING}` } } }),
    // A menu has items alone: the first one takes the focus.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Select: Select.extend(lists),
    MultiSelect: MultiSelect.extend(lists),
    Autocomplete: Autocomplete.extend(lists),
    TagsInput: TagsInput.extend(lists),
    // What has no control is moved by the arrows.
    TableScrollContainer: {
      defaultProps: {
        scrollAreaProps: { type: "auto", offsetScrollbars: "present", viewportProps: { tabIndex: 0 } },
      },
    },
    SpotlightActionsList: { defaultProps: { viewportProps: { tabIndex: 0 } } },
    ColorPicker: ColorPicker.extend({
      defaultProps: {
        saturationLabel: words.settingField.saturation,
        hueLabel: words.settingField.hue,
      },
    }),
    // Where motion is reduced, the library leaves the half of its size out that it is moved by.
    Button: Button.extend({ styles: { loader: { transform: "translate(-50%, -50%)" } } }),
    // Its text is short, is not cut in a narrow column, and is written as everywhere else.
    Badge: Badge.extend({ defaultProps: { miw: "max-content", tt: "none" } }),
    Notification: Notification.extend({ defaultProps: closes }),
    Modal: Modal.extend({ defaultProps: windows, styles: windowStyles }),
    Drawer: Drawer.extend({ defaultProps: windows, styles: windowStyles }),
    SegmentedControl: SegmentedControl.extend({
      styles: { root: scrolled, label: { color: "var(--mantine-color-text)" } },
    }),
    Tabs: Tabs.extend({
      classNames: { list: "moved-row" },
      styles: { list: { ...scrolled, flexWrap: "nowrap" }, tab: { flexShrink: 0 } },
    }),
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
