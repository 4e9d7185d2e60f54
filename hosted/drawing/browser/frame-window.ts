import { FrameWindowPage } from "../frame.tsx";
import { takeOver } from "../take-over.tsx";

takeOver(FrameWindowPage);
