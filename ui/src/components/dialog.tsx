/** A dialog of the window: flat scrim, focus kept inside, Esc closes. For dialogs of the system see the shell. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, type RefObject, useRef } from "react";

export interface DialogProps {
  /** Its heading, also its name. */
  title: string;
  /** Whether the heading is only told to screen readers. */
  titleHidden?: boolean;
  onClose: () => void;
  className?: string;
  /** What gets the focus first; the dialog itself while it is disabled. Without one, the first control. */
  initialFocus?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function Dialog({ title, titleHidden = false, onClose, className = "", initialFocus, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const focusFirst = () => {
    const wanted = initialFocus?.current;
    return wanted && !wanted.matches(":disabled") ? wanted : popup.current;
  };
  return (
    <Base.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup ref={popup} className={`dialog ${className}`} {...(initialFocus ? { initialFocus: focusFirst } : {})}>
          <Base.Title className={titleHidden ? "sr-only" : "dialog-title"}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
