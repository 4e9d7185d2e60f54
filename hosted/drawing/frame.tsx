import { FrameLogin, type FrameLoginProps } from "../../components/frame/frame-login.tsx";
import { FrameWindow, type FrameWindowProps } from "../../components/frame/frame-window.tsx";
import { Failing } from "./failing.tsx";

/** A flow in a frame of an application's page. */
export function FramePage(props: FrameLoginProps) {
  return (
    <Failing words={props.words}>
      <FrameLogin {...props} />
    </Failing>
  );
}

/** The window in which the flow of a frame goes on. */
export function FrameWindowPage(props: FrameWindowProps) {
  return (
    <Failing words={props.words}>
      <FrameWindow {...props} />
    </Failing>
  );
}
