import { LoginPage } from "../login.tsx";
import { takeOver } from "../take-over.tsx";

takeOver(LoginPage);
