/** Gives a session another title. */
import { type FormEvent, useRef, useState } from "react";

import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { useApp } from "../../state/app";
import { useNavigation } from "../../state/navigation";
import { attempt } from "../../state/problems";
import { shell } from "../../state/shell";
import { text } from "../../text/en";

const words = text.frame.rename;

/** The shell takes 1 to 200 characters. */
const LONGEST = 200;

export function RenameDialog({ sessionId }: { sessionId: string }) {
  const close = useNavigation((navigation) => navigation.closeDialog);
  const before = useApp((app) => app.state?.sessions.find((one) => one.id === sessionId)?.title ?? "");
  const [title, setTitle] = useState(before);
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const next = title.trim();
    if (next === "") return;
    void attempt("app", () => shell().session.rename({ sessionId, title: next })).then(close);
  };
  return (
    <Dialog title={words.title} onClose={close} initialFocus={field}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <input
            ref={field}
            className="input"
            aria-label={words.label}
            maxLength={LONGEST}
            value={title}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setTitle(event.target.value)}
          />
        </div>
        <div className="acts">
          <span className="grow" />
          <Button onClick={close}>{words.cancel}</Button>
          <Button tone="primary" type="submit" disabled={title.trim() === ""}>
            {words.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
