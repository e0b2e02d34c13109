/** Says where a key will be kept; without a keychain the user chooses. Nothing is written to a file without that choice. */
import { Icon } from "../../components/icon";
import { StateSign } from "../../components/state-sign";
import type { KeychainState, KeyFallback } from "../../protocol";
import { text } from "../../text/en";

type Props = { keychain: KeychainState; fallback: KeyFallback; onChoose: (fallback: KeyFallback) => void };

export function KeyStorage({ keychain, fallback, onChoose }: Props) {
  const words = text.models;
  if (keychain.state === "available") {
    return (
      <p className="small muted key-kept">
        <Icon name="key" />
        {words.keychainStores}
      </p>
    );
  }
  return (
    <div className="banner attention key-fallback">
      <StateSign name="attention" />
      <div className="grow">
        <b>{words.keychainGone}.</b> <span className="text2">{keychain.reason}</span>
        <fieldset>
          <legend className="sr-only">{words.fallback}</legend>
          <label>
            <input type="radio" name="key-fallback" checked={fallback === "memory"} onChange={() => onChoose("memory")} />
            <span>
              {words.fallbackMemory} <span className="muted">{words.fallbackMemoryNote}</span>
            </span>
          </label>
          <label>
            <input type="radio" name="key-fallback" checked={fallback === "file"} onChange={() => onChoose("file")} />
            <span>
              {words.fallbackFile} <span className="muted">{words.fallbackFileNote}</span>
            </span>
          </label>
        </fieldset>
      </div>
    </div>
  );
}
