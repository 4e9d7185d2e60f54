import { FramePage } from "../frame.tsx";
import { takeOver } from "../take-over.tsx";

takeOver(FramePage);
