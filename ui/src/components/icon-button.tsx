/** A button that shows only an icon; its name is told to all. */
import type { ButtonHTMLAttributes } from "react";

import { Icon } from "./icon";
import type { IconName } from "./icons";

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does, in words: its accessible name and its hint. */
  name: string;
  /** The key that does the same. */
  keys?: string;
  small?: boolean;
}

export function IconButton({ icon, name, keys, small = false, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`icon-btn ${small ? "sm" : ""} ${className}`}
      aria-label={name}
      title={keys ? `${name}  ${keys}` : name}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
