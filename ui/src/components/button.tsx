/** The buttons of the product. One primary a surface. */
import type { ButtonHTMLAttributes, ReactNode } from "react";

import { Icon } from "./icon";
import type { IconName } from "./icons";

type Tone = "plain" | "primary" | "quiet" | "danger" | "stop";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: Tone;
  dense?: boolean;
  icon?: IconName;
  /** A key that does the same, shown as a cap. */
  keyCap?: string;
  ref?: React.Ref<HTMLButtonElement>;
  children?: ReactNode;
}

export function Button({ tone = "plain", dense = false, icon, keyCap, className = "", children, ...rest }: ButtonProps) {
  const classes = ["btn", tone === "plain" ? "" : tone, dense ? "dense" : "", className].filter(Boolean).join(" ");
  return (
    <button type="button" className={classes} {...rest}>
      {icon ? <Icon name={icon} /> : null}
      {children}
      {keyCap ? <kbd aria-hidden="true">{keyCap}</kbd> : null}
    </button>
  );
}
