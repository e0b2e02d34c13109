/** A question of the model: options to choose from, a text, or both. */
import { type KeyboardEvent, useState } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import type { PendingQuestion } from "../../protocol";
import { attempt } from "../../state/problems";
import { useSession } from "../../state/session-store";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { Lane } from "./lane";

const words = text.conversation.question;

export function QuestionCard({ question }: { question: PendingQuestion }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [typed, setTyped] = useState("");
  const [sent, setSent] = useState(false);
  const own = typed.trim();
  const answers = own === "" ? chosen : question.multi ? [...chosen, own] : [own];

  const answer = async (given: readonly string[]) => {
    const { id } = useSession.getState();
    if (!id) return;
    setSent(true);
    const { questionId } = question;
    const worked = await attempt("session", () => shell().session.answerQuestion({ sessionId: id, questionId, answers: [...given] }));
    if (!worked) setSent(false);
  };
  const choose = (option: string) => {
    if (question.multi) setChosen(chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option]);
    else setChosen([option]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing || answers.length === 0) return;
    event.preventDefault();
    void answer(answers);
  };

  return (
    <Lane dashed>
      <article className="card" aria-label={words.label(question.question)}>
        <header>
          <Icon name="you" className="attention" />
          <b>{words.title}</b>
        </header>
        <div className="card-body selectable">{question.question}</div>
        <fieldset className="choices" disabled={sent} style={{ border: 0 }}>
          <legend className="sr-only">{question.question}</legend>
          {question.options.map((option) => (
            <label key={option} className="choice">
              <input
                type={question.multi ? "checkbox" : "radio"}
                name={question.questionId}
                checked={chosen.includes(option) && (question.multi || own === "")}
                onChange={() => choose(option)}
                onKeyDown={onKeyDown}
              />
              <span>{option}</span>
            </label>
          ))}
          {question.allowText || question.options.length === 0 ? (
            <input
              className="input"
              aria-label={words.hint}
              placeholder={words.hint}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              onKeyDown={onKeyDown}
            />
          ) : null}
        </fieldset>
        <div className="acts">
          <Button tone="primary" disabled={sent || answers.length === 0} onClick={() => void answer(answers)}>
            {words.answer}
          </Button>
          <span className="grow" />
          <Button tone="quiet" disabled={sent} onClick={() => void answer([])}>
            {words.decline}
          </Button>
        </div>
      </article>
    </Lane>
  );
}
