"use client";

/** Shown while Stile does not answer. The session stays. */
export default function ErrorPage({ reset }) {
  return (
    <p>
      Your account is not available at the moment.{" "}
      <button type="button" onClick={reset}>
        Try again
      </button>
    </p>
  );
}
