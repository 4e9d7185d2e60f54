"use client";

import { useEffect } from "react";
import { SIGNED_IN_CHANNEL } from "../_api/step-up.ts";
import { Notice } from "../_shell/notice.tsx";
import { words } from "../_words.ts";

/** The end of a sign-in in a window of its own: tells the page that waits, and closes. */
export default function Confirmed() {
  useEffect(() => {
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.postMessage("signed in");
    channel.close();
    window.close();
  }, []);
  return <Notice title={words.confirmed.title} sentence={words.confirmed.sentence} />;
}
