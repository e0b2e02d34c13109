/** What the window shows when it could not read the app's state. */
import { Button } from "./components/button";
import { Icon } from "./components/icon";
import { toErrorInfo } from "./state/session-store";
import { text } from "./text/en";

const words = text.frame.start;

export function StartFailed({ cause, onAgain }: { cause: unknown; onAgain: () => void }) {
  return (
    <main className="window-start">
      <div className="window-start-in banner danger" role="alert">
        <Icon name="warn" />
        <div className="grow selectable">
          <b>{words.failed}.</b> <span className="text2">{toErrorInfo(cause).message}</span>
        </div>
        <Button dense onClick={onAgain}>
          {words.again}
        </Button>
      </div>
    </main>
  );
}
