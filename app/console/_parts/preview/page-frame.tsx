"use client";

import { Box, Skeleton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { type DisplayedPicture, PREVIEW_READY } from "#server/preview/displayed-picture";

/** The screens that a picture is shown on, in CSS pixels. */
export const screens = {
  phone: { width: 390, height: 780 },
  desktop: { width: 1280, height: 860 },
} as const;

export type Screen = keyof typeof screens;

/** A picture of a hosted page on a screen, no wider than the place that it stands in. */
export function PageFrame({
  label,
  displayed,
  screen,
  isShown = true,
}: {
  label: string;
  /** Null while it is drawn. */
  displayed: DisplayedPicture | null;
  screen: Screen;
  /** Whether the frame is there: one of many is while it is in view. */
  isShown?: boolean;
}) {
  const { ref: place, width: available } = useElementSize();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent) => {
      if (source !== null && source === frame.current?.contentWindow && data === PREVIEW_READY)
        setReady(true);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, []);
  // A new frame begins anew.
  if (isReady && !isShown) setReady(false);
  useEffect(() => {
    // The document is in a sandbox, so that its origin cannot be named.
    if (isReady && displayed) frame.current?.contentWindow?.postMessage(displayed, "*");
  }, [isReady, displayed]);
  const { width, height } = screens[screen];
  const scale = Math.min(1, available / width);
  return (
    <Box ref={place} w="100%">
      <Box
        className="page-frame"
        w={available === 0 ? "100%" : width * scale}
        mx="auto"
        style={{ aspectRatio: `${width} / ${height}` }}
      >
        {available > 0 && isShown && (
          <iframe
            ref={frame}
            title={label}
            src="/api/console/preview"
            sandbox="allow-scripts"
            width={width}
            height={height}
            {...(displayed?.still ? { tabIndex: -1 } : {})}
            style={{ transform: `scale(${scale})` }}
          />
        )}
        {available > 0 && isShown && !(isReady && displayed) && (
          <Skeleton className="page-frame-cover" radius={0} />
        )}
      </Box>
    </Box>
  );
}
