/** Beside the conversation: the agent's plan, what the running turn edited so far, and the session as a cairn. */
import { Icon } from "../../components/icon";
import type { IconName } from "../../components/icons";
import { LineCounts } from "../../components/line-counts";
import { StateSign } from "../../components/state-sign";
import type { TodoItem, TodoStatus } from "../../protocol";
import { useNavigation } from "../../state/navigation";
import { runningTurn } from "../../state/rows";
import type { SessionState } from "../../state/session";
import { editsSoFar } from "../../state/turn-edits";
import { text } from "../../text/en";
import { Cairn } from "./cairn";

const words = text.frame.side;

export function SidePanel({ state }: { state: SessionState }) {
  return (
    <aside className="side" aria-label={words.label}>
      <Plan todos={state.todos} />
      <SoFar state={state} />
      <Cairn state={state} />
    </aside>
  );
}

const CLASSES: Record<TodoStatus, string> = { done: "done", in_progress: "now", pending: "" };
const NAMES: Record<TodoStatus, string> = { done: words.done, in_progress: words.now, pending: words.next };

function Plan({ todos }: { todos: readonly TodoItem[] }) {
  const done = todos.filter((todo) => todo.status === "done").length;
  return (
    <section>
      <Head icon="plan" title={words.plan} meta={todos.length > 0 ? words.planCount(done, todos.length) : ""} />
      {todos.length === 0 ? <p className="side-none">{words.noPlan}</p> : null}
      <ul className="plan">
        {todos.map((todo) => (
          <li key={todo.id} className={CLASSES[todo.status]}>
            <TodoSign status={todo.status} />
            <span className="sr-only">{NAMES[todo.status]}: </span>
            <span>{todo.text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function TodoSign({ status }: { status: TodoStatus }) {
  switch (status) {
    case "done":
      return <Icon name="check" />;
    case "in_progress":
      return <StateSign name="busy" />;
    case "pending":
      return <StateSign name="idle" />;
  }
}

function Head({ icon, title, meta }: { icon: IconName; title: string; meta: string }) {
  return (
    <h3>
      <Icon name={icon} />
      <span className="grow">{title}</span>
      <span className="muted num">{meta}</span>
    </h3>
  );
}

/** Edits of the running turn; nothing while no turn runs, for then the stone tells. */
function SoFar({ state }: { state: SessionState }) {
  const turn = runningTurn(state);
  if (!turn) return null;
  const edits = editsSoFar(turn);
  return (
    <section className="filelist">
      <h3>
        <Icon name="edit" />
        <span className="grow">{words.soFar}</span>
        <LineCounts added={edits.reduce((sum, edit) => sum + edit.added, 0)} removed={edits.reduce((sum, edit) => sum + edit.removed, 0)} />
      </h3>
      {edits.length === 0 ? <p className="side-none">{words.noFiles}</p> : null}
      {edits.map((edit) => (
        <div className="row" key={edit.path} title={edit.path}>
          <span className="kind">
            <Icon name="agent" />
          </span>
          <span className="grow cut what">{edit.path}</span>
          <LineCounts added={edit.added} removed={edit.removed} />
        </div>
      ))}
    </section>
  );
}

/** Whether the panel lies over the conversation: then a press beside it closes it. */
export function useSideOverlay(): boolean {
  return useNavigation((navigation) => navigation.room !== "wide" && navigation.sideOpen);
}
