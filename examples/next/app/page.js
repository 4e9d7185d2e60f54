import Link from "next/link";

export default function Home() {
  return (
    <>
      <h1>Welcome</h1>
      {/* Not a Link: the proxy may lead to another origin. */}
      <p>
        <a href="/account">Your account</a>
      </p>
      <p>
        <Link href="/sign-in">Sign in on a page of ours</Link>
      </p>
    </>
  );
}
