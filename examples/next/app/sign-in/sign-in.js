"use client";

import { Login } from "@stile-auth/react";
import "@stile-auth/react/stile.css";

export function SignIn({ url }) {
  return <Login url={url} onSuccess={() => location.assign("/account")} />;
}
