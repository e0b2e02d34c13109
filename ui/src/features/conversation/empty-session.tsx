/** A session without a turn: three first messages to start from, or what the tour will do. They are put into the field, not sent. */
import { useEffect } from "react";

import { Icon } from "../../components/icon";
import type { IconName } from "../../components/icons";
import { Stone } from "../../components/stone";
import type { SessionSummary } from "../../protocol";
import { TOUR_PROVIDER } from "../../state/app";
import { useDraftRequests } from "../../state/draft-requests";
import { text } from "../../text/en";

const words = text.conversation.empty;

const OFFERS: readonly { icon: IconName; title: string; more: string; message: string }[] = [
  { icon: "read", title: words.explain, more: words.explainMore, message: words.explainText },
  { icon: "search", title: words.bug, more: words.bugMore, message: words.bugText },
  { icon: "check", title: words.test, more: words.testMore, message: words.testText },
];

export function EmptySession({ summary }: { summary: SessionSummary }) {
  return summary.model?.provider === TOUR_PROVIDER ? <TourStart sessionId={summary.id} /> : <FirstMessages sessionId={summary.id} />;
}

/** What will happen in the tour, one stone an act; its message waits in the field. */
function TourStart({ sessionId }: { sessionId: string }) {
  const { tour } = text.conversation;
  useEffect(() => {
    useDraftRequests.setState({ request: { sessionId, text: tour.message, offer: true } });
  }, [sessionId, tour.message]);
  return (
    <div className="empty">
      <div className="empty-in">
        <h2>{tour.title}</h2>
        <p className="text2">{tour.detail}</p>
        <ol className="tour">
          {tour.steps.map((step, i) => (
            <li key={step.title}>
              <Stone cut={CUTS[i % CUTS.length] ?? "a"} size={2} look="back" />
              <span>
                <b>{step.title}</b>
                <span className="text2">{step.more}</span>
              </span>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

const CUTS = ["a", "b", "c"] as const;

function FirstMessages({ sessionId }: { sessionId: string }) {
  return (
    <div className="empty">
      <div className="empty-in">
        <div className="flex" style={{ gap: "var(--sp-5)" }}>
          <span className="ghosts">
            <Stone cut="a" size={1} look="back" />
            <Stone cut="b" size={2} look="back" />
            <Stone cut="c" size={3} look="back" />
          </span>
          <div>
            <h2>{words.title}</h2>
            <p className="text2">{words.detail}</p>
          </div>
        </div>
        <div className="panel pick" role="group" aria-label={words.offers}>
          {OFFERS.map((offer) => (
            <button
              key={offer.title}
              type="button"
              className="it"
              onClick={() => useDraftRequests.setState({ request: { sessionId, text: offer.message } })}
            >
              <Icon name={offer.icon} />
              <span className="grow">
                <b>{offer.title}</b>
                <span className="muted">{offer.more}</span>
              </span>
              <Icon name="right" className="muted" />
            </button>
          ))}
        </div>
        <p className="small muted" style={{ marginTop: "var(--sp-5)" }}>
          {words.keys}
        </p>
      </div>
    </div>
  );
}
