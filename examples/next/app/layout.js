export const metadata = { title: "Shop" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <header>Shop</header>
        {children}
      </body>
    </html>
  );
}
