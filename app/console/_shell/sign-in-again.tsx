"use client";

import { Button, Group, Modal, Text } from "@mantine/core";
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from "react";
import { type AskToSignIn, SIGNED_IN_CHANNEL } from "../_api/step-up.ts";
import { words } from "../_words.ts";

const Asking = createContext<AskToSignIn>(async () => false);

/** Returns what asks the user to sign in again, in a window of its own, so that the page stays as it is. */
export const useAskToSignIn = () => use(Asking);

const POPUP = "popup,width=480,height=720";

/** Holds the question, of which there is one for any number of calls that wait. */
export function SignInAgain({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef<((signedIn: boolean) => void)[]>([]);
  const ask = useCallback<AskToSignIn>(() => {
    setOpen(true);
    return new Promise((resolve) => waiting.current.push(resolve));
  }, []);
  const end = useCallback((signedIn: boolean) => {
    setOpen(false);
    for (const resolve of waiting.current.splice(0)) resolve(signedIn);
  }, []);
  useEffect(() => {
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.onmessage = () => end(true);
    return () => channel.close();
  }, [end]);
  return (
    <Asking value={ask}>
      {children}
      <Modal opened={isOpen} onClose={() => end(false)} title={words.signInAgain.title} centered>
        <Text size="sm">{words.signInAgain.sentence}</Text>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={() => end(false)}>
            {words.cancel}
          </Button>
          <Button
            data-autofocus
            onClick={() => window.open("/api/console/sign-in?to=/console/confirmed", "stile-sign-in", POPUP)}
          >
            {words.signInAgain.button}
          </Button>
        </Group>
      </Modal>
    </Asking>
  );
}
