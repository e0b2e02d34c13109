/** Catches a defect of a view, so that the rest of the window goes on; the view can be opened again. */
import { Component, type ErrorInfo, type ReactNode } from "react";

import { Button } from "./components/button";
import { Icon } from "./components/icon";
import { text } from "./text/en";

const words = text.frame.start;

export class Failure extends Component<{ children: ReactNode }, { message: string | null }> {
  override state: { message: string | null } = { message: null };

  static getDerivedStateFromError(error: unknown): { message: string } {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error("a view has failed", error, info.componentStack);
  }

  override render(): ReactNode {
    const { message } = this.state;
    if (message === null) return this.props.children;
    return (
      <main className="main fill page">
        <div className="window-start">
          <div className="window-start-in banner danger" role="alert">
            <Icon name="warn" />
            <div className="grow selectable">
              <b>{words.crashed}.</b> <span className="text2">{words.crashedMore}</span>
              <pre className="small muted" style={{ whiteSpace: "pre-wrap" }}>
                {message}
              </pre>
            </div>
            <Button dense onClick={() => this.setState({ message: null })}>
              {words.reopen}
            </Button>
          </div>
        </div>
      </main>
    );
  }
}
