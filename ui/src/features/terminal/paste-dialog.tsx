/** Asks before several lines are pasted into a shell, and shows every one of them. */
import { useRef } from "react";

import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { text } from "../../text/en";
import type { Paste } from "./paste";

type Props = { paste: Paste; bracketed: boolean; onPaste: (text: string) => void; onClose: () => void };

export function PasteDialog({ paste, bracketed, onPaste, onClose }: Props) {
  const cancel = useRef<HTMLButtonElement>(null);
  const words = text.terminal;
  return (
    <Dialog title={words.pasteTitle(paste.lines)} onClose={onClose} className="paste-dialog" initialFocus={cancel}>
      <div className="dialog-body">
      <p className="text2">
        {bracketed ? words.pasteBracketed : words.pasteBody} {paste.removed > 0 ? words.pasteRemoved(paste.removed) : ""}
      </p>
      <pre className="paste-text" tabIndex={0}>
        {paste.text}
      </pre>
      </div>
      <div className="acts">
        <span className="grow" />
        <Button ref={cancel} onClick={onClose}>
          {words.cancel}
        </Button>
        {paste.lines > 1 ? <Button onClick={() => onPaste(paste.text.trim().replace(/\s*\n\s*/g, " "))}>{words.pasteOneLine}</Button> : null}
        <Button tone="primary" onClick={() => onPaste(paste.text)}>
          {words.paste}
        </Button>
      </div>
    </Dialog>
  );
}
