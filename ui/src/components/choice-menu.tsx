/** A menu with one choice out of a few: mode, model. */
import { Menu } from "@base-ui/react/menu";
import type { ReactNode } from "react";

import { Icon } from "./icon";
import type { IconName } from "./icons";

export interface Choice {
  value: string;
  label: string;
  /** One line below the label. */
  detail?: string;
  /** Whether a dialog of the system follows. */
  asks?: boolean;
}

export interface ChoiceMenuProps {
  /** What is chosen here: the accessible name. */
  name: string;
  icon: IconName;
  value: string | null;
  shown: ReactNode;
  choices: readonly Choice[];
  onChoose: (value: string) => void;
  /** Further entries below the choices. */
  footer?: { label: string; icon: IconName; act: () => void };
  className?: string;
  title?: string;
}

export function ChoiceMenu(props: ChoiceMenuProps) {
  const { name, icon, value, shown, choices, onChoose, footer, className = "", title } = props;
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className={`chip ${className}`} aria-label={name} title={title ?? name}>
        <Icon name={icon} />
        <span className="cut">{shown}</span>
        <Icon name="down" className="muted" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-at" side="top" align="start" sideOffset={6}>
          <Menu.Popup className="menu" aria-label={name}>
            <Menu.RadioGroup value={value ?? ""} onValueChange={(next: unknown) => onChoose(String(next))}>
              {choices.map((choice) => (
                <Menu.RadioItem key={choice.value} value={choice.value} className="menu-item" closeOnClick>
                  <span className="menu-tick">
                    {choice.value === value ? <Icon name="check" /> : null}
                  </span>
                  <span className="grow">
                    <span className="menu-label">{choice.label}</span>
                    {choice.detail ? <span className="menu-detail">{choice.detail}</span> : null}
                  </span>
                  {choice.asks ? <Icon name="window" className="muted" /> : null}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            {footer ? (
              <>
                <Menu.Separator className="menu-line" />
                <Menu.Item className="menu-item" onClick={footer.act}>
                  <span className="menu-tick">
                    <Icon name={footer.icon} />
                  </span>
                  <span className="grow menu-label">{footer.label}</span>
                </Menu.Item>
              </>
            ) : null}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
