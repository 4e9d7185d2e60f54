export const metadata = { title: "Shop", icons: "data:," };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body style={{ font: "1rem/1.5 system-ui, sans-serif", maxWidth: "40rem", margin: "3rem auto" }}>
        {children}
      </body>
    </html>
  );
}
