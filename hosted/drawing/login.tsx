import { Login, type LoginProps } from "../../components/flow/login.tsx";
import { Languages, type LanguagesProps } from "../../components/ui/languages.tsx";
import { Failing } from "./failing.tsx";
import { pageDrawings } from "./page-drawings.ts";

export interface LoginPageProps
  extends Omit<LoginProps, "children" | "server" | "navigate" | "openFlow" | "drawings"> {
  languages: LanguagesProps;
}

/** The page of a flow: login, registration, account or consent. */
export function LoginPage({ languages, ...flow }: LoginPageProps) {
  return (
    <Failing words={flow.words}>
      <Login {...flow} drawings={pageDrawings}>
        <Languages {...languages} />
      </Login>
    </Failing>
  );
}
