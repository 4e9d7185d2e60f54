/** The logo of Stile: an S that is also three steps. */
export function Mark() {
  return (
    <svg className="stile-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect className="stile-mark-ground" width="32" height="32" rx="9" />
      <path className="stile-mark-treads" d="M22.5 9h-13v7h13v7h-13" />
    </svg>
  );
}
