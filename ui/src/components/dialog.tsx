/** A dialog of the window: flat scrim, focus kept inside, Esc closes. For dialogs of the system see the shell. */
import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";

export interface DialogProps {
  /** Its heading, also its name. */
  title: string;
  /** Whether the heading is only told to screen readers. */
  titleHidden?: boolean;
  onClose: () => void;
  className?: string;
  /** What gets the focus first; the first control otherwise. */
  initialFocus?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function Dialog({ title, titleHidden = false, onClose, className = "", initialFocus, children }: DialogProps) {
  return (
    <Base.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup className={`dialog ${className}`} {...(initialFocus ? { initialFocus } : {})}>
          <Base.Title className={titleHidden ? "sr-only" : "dialog-title"}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
