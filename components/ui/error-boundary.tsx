import { Component, type ReactNode } from "react";

interface ErrorBoundaryProps {
  title: string;
  sentence: string;
  reload: string;
  children: ReactNode;
}

/** Replaces a page whose rendering failed. React supports error boundaries only as classes. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    const { children, ...said } = this.props;
    return this.state.failed ? <FailedDrawing {...said} /> : children;
  }
}

/** What stands in place of a page whose rendering failed. */
export function FailedDrawing({ title, sentence, reload }: Omit<ErrorBoundaryProps, "children">) {
  return (
    <main className="stile-page">
      <div className="stile-card">
        <div className="stile-content">
          <h1 className="stile-title">{title}</h1>
          <p className="stile-sentence" role="alert">
            {sentence}
          </p>
          <button
            type="button"
            className="stile-button stile-button-primary"
            onClick={() => location.reload()}
          >
            {reload}
          </button>
        </div>
      </div>
    </main>
  );
}
