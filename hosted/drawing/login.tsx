import { Login, type LoginProps } from "../../components/flow/login.tsx";
import { Languages, type LanguagesProps } from "../../components/ui/languages.tsx";
import { Failing } from "./failing.tsx";

export interface LoginPageProps extends Omit<LoginProps, "children" | "server" | "navigate" | "openFlow"> {
  languages: LanguagesProps;
}

/** The page of a flow: login, registration or account. */
export function LoginPage({ languages, ...flow }: LoginPageProps) {
  return (
    <Failing words={flow.words}>
      <Login {...flow}>
        <Languages {...languages} />
      </Login>
    </Failing>
  );
}
