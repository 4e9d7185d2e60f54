import { redirect } from "next/navigation";
import { session, stileUrl } from "../../stile.js";
import { SignIn } from "./sign-in.js";

export default async function SignInPage() {
  if ((await session()).ok) redirect("/account");
  return <SignIn url={stileUrl} />;
}
