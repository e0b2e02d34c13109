/** What a link and an image of the model's text become: neither loads nor goes anywhere by itself. */
import { createContext, type ReactNode, useContext } from "react";

import { text } from "../../text/en";
import { Icon } from "../icon";

/** What a press on a link does; set by whoever shows the text. */
export const OpenLink = createContext<(url: string) => void>(() => undefined);

export function InertLink({ url, children }: { url: string; children: ReactNode }) {
  const open = useContext(OpenLink);
  return (
    <button type="button" className="md-link" title={text.conversation.code.link(url)} onClick={() => open(url)}>
      {children}
    </button>
  );
}

export function InertImage({ name }: { name: string }) {
  return (
    <span className="md-image">
      <Icon name="file" />
      {text.conversation.code.image(name)}
    </span>
  );
}
