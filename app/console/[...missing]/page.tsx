import { notFound } from "next/navigation";

/** Every address of the console that has no page. */
export default function Missing() {
  notFound();
}
