/** All keys of the window, by place. */
import { Dialog } from "../../components/dialog";
import { useNavigation } from "../../state/navigation";
import { text } from "../../text/en";

const words = text.frame.keys;

type Line = [keys: string, what: string];

const PLACES: readonly { name: string; lines: readonly Line[] }[] = [
  {
    name: words.everywhere,
    lines: [
      ["Ctrl K", words.goTo],
      ["Ctrl N", text.frame.rail.newSession],
      ["Ctrl B", words.sessions],
      ["Ctrl Alt B", words.side],
      ["Ctrl J", words.terminal],
      ["Ctrl ,", words.settings],
      ["Ctrl /", words.help],
      ["Ctrl 1…9", words.byPlace],
      ["Ctrl Shift [ ]", words.neighbours],
      ["Ctrl + - 0", words.textSize],
      ["Ctrl .", words.nextRequest],
    ],
  },
  {
    name: words.composer,
    lines: [
      ["Enter", words.send],
      ["Shift Enter", words.newLine],
      ["Shift Tab", words.mode],
      ["Esc", words.stop],
      ["Up", words.history],
    ],
  },
  {
    name: words.approval,
    lines: [
      ["Enter", words.allow],
      ["Esc", words.deny],
      ["Up Down", words.queue],
    ],
  },
  {
    name: words.stones,
    lines: [
      ["Alt Up Down", words.stonesMove],
      ["Enter", words.review],
      ["Backspace", words.rollBack],
      ["Ctrl Z", words.bringBack],
    ],
  },
  {
    name: words.changes,
    lines: [
      ["n p", words.hunk],
      ["] [", words.file],
      ["Esc", words.closeReview],
    ],
  },
];

export function KeyHelp() {
  const close = useNavigation((navigation) => navigation.closeDialog);
  return (
    <Dialog title={words.title} onClose={close} className="key-help">
      {/* It scrolls, so it must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="dialog-body" tabIndex={0}>
        <div className="key-table">
          {PLACES.map((place) => (
            <section key={place.name}>
              <h3>{place.name}</h3>
              {place.lines.map(([keys, what]) => (
                <div className="key-line" key={keys}>
                  <span className="grow">{what}</span>
                  <kbd>{keys}</kbd>
                </div>
              ))}
            </section>
          ))}
        </div>
      </div>
    </Dialog>
  );
}
