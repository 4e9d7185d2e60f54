import { ConfirmationPage } from "../confirmation.tsx";
import { takeOver } from "../take-over.tsx";

takeOver(ConfirmationPage);
