/** The files of one turn and their diffs. */
import { useEffect, useMemo, useRef, useState } from "react";

import { Button } from "../../components/button";
import { Icon } from "../../components/icon";
import { IconButton } from "../../components/icon-button";
import { StateSign } from "../../components/state-sign";
import type { TurnChanges, TurnRecord } from "../../protocol";
import { changeSettings } from "../../state/actions";
import { useApp } from "../../state/app";
import { messageOf } from "../../state/failure";
import { useNavigation } from "../../state/navigation";
import { shell } from "../../state/shell";
import { text } from "../../text/en";
import { DiffList, type DiffListHandle } from "./diff-list";
import { DiffLoader } from "./diff-loader";
import { filterFiles, NO_FILTER } from "./file-tree";
import { FileTreeView } from "./file-tree-view";
import { type Cursor, type Layout, moveFile, moveHunk } from "./rows";
import { useDiffKeys } from "./use-diff-keys";
import { useRoom } from "./use-room";
import { useTurnChanges } from "./use-turn-changes";

type Props = { sessionId: string; turn: TurnRecord | null; onClose: () => void };

export function TurnFiles({ sessionId, turn, onClose }: Props) {
  const { result, again } = useTurnChanges(sessionId, turn);
  if (turn !== null && turn.completeness.state === "not_protected") {
    return <Nothing title={text.changes.empty.notProtected} note={turn.completeness.reason} sign onClose={onClose} />;
  }
  switch (result.state) {
    case "loading":
      return <Nothing title={text.changes.empty.loading} onClose={onClose} />;
    case "failed":
      return (
        <Nothing title={text.changes.empty.failed} note={result.message} sign onClose={onClose}>
          <Button onClick={again}>{text.changes.diff.retry}</Button>
        </Nothing>
      );
    case "ready":
      if (result.changes.files.length === 0) {
        const title = result.changes.turn.state === "open" ? text.changes.empty.openTurn : text.changes.empty.noChanges;
        return <Nothing title={title} onClose={onClose} />;
      }
      return <Files sessionId={sessionId} changes={result.changes} onClose={onClose} />;
  }
}

function Files({ sessionId, changes, onClose }: { sessionId: string; changes: TurnChanges; onClose: () => void }) {
  const { turn, files } = changes;
  const { turnId } = turn;
  const list = useRef<DiffListHandle>(null);
  const pane = useRef<HTMLDivElement>(null);
  const [filter, setFilter] = useState(NO_FILTER);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const [here, setHere] = useState<string | null>(null);
  const [treeOpen, setTreeOpen] = useState(false);
  const [layout, setLayout] = useDiffLayout();
  const loader = useLoader(sessionId, turnId, turn.after);
  const shown = useMemo(() => filterFiles(files, filter), [files, filter]);
  const paths = useMemo(() => shown.map((file) => file.path), [shown]);
  const roomy = useRoom(pane, SPLIT_REM);
  const openDialog = useNavigation((state) => state.openDialog);

  const go = (next: Cursor | null) => {
    if (next === null) return;
    setCursor(next);
    if (closed.has(next.path)) setClosed(without(closed, next.path));
    // The rows of a file that was just opened exist after the next render.
    requestAnimationFrame(() => list.current?.reveal(next));
  };
  const place = () => list.current?.place() ?? cursor;
  const count = (path: string) => {
    const entry = loader.entry(path);
    return { loaded: entry?.hunks.length ?? 0, more: entry?.truncated ?? true };
  };
  const rollBack = (only: string[] | null) =>
    openDialog({ kind: "roll_back", sessionId, turnId, target: "revert", paths: only });
  useDiffKeys(null, {
    next_hunk: () => go(moveHunk(paths, place(), 1, count)),
    previous_hunk: () => go(moveHunk(paths, place(), -1, count)),
    next_file: () => go(moveFile(paths, place(), 1)),
    previous_file: () => go(moveFile(paths, place(), -1)),
    layout: () => roomy && setLayout(layout === "split" ? "unified" : "split"),
  });

  const canRollBack = turn.state !== "open" && turn.standing.state !== "rolled_back";
  return (
    <div className={`turn-files ${treeOpen ? "tree-open" : ""}`}>
      <FileTreeView
        number={turn.number}
        all={files}
        shown={shown}
        skipped={changes.skipped}
        filter={filter}
        onFilter={setFilter}
        here={here}
        onChoose={(path) => {
          setTreeOpen(false);
          go({ path, hunk: 0 });
        }}
      />
      <div className="files" ref={pane}>
        <div className="pane-h">
          <Button dense tone="quiet" icon="tree" className="tree-button" aria-expanded={treeOpen} onClick={() => setTreeOpen(!treeOpen)}>
            {text.changes.files(files.length)}
          </Button>
          <span className="grow cut pane-title">{text.changes.stones.turn(turn.number)}</span>
          {roomy ? <LayoutChoice layout={layout} onChoose={setLayout} /> : null}
          {canRollBack ? (
            <Button dense icon="back" onClick={() => rollBack(null)}>
              {text.changes.diff.rollBackTurn}
            </Button>
          ) : null}
          <IconButton small icon="close" name={text.changes.close} keys="Esc" className="wide-close" onClick={onClose} />
        </div>
        <DiffList
          ref={list}
          label={text.changes.diff.label(turn.number)}
          files={shown}
          closed={closed}
          loader={loader}
          layout={roomy ? layout : "unified"}
          onHere={setHere}
          acts={{
            cursor,
            canRollBack,
            onToggle: (path) => setClosed(closed.has(path) ? without(closed, path) : new Set([...closed, path])),
            onRollBackFile: (path) => rollBack([path]),
            onRetry: (path) => loader.retry(path),
            onHunk: setCursor,
          }}
        />
        <Keys split={roomy} />
      </div>
    </div>
  );
}

/** Width of the pane in rem from which two sides fit: 55 characters each. */
const SPLIT_REM = 44;

/** The loader of a turn's diffs; a new one when the turn was captured anew. */
function useLoader(sessionId: string, turnId: string, after: string | null): DiffLoader {
  const loader = useMemo(
    () => new DiffLoader((path, fromHunk) => shell().changes.diff({ sessionId, turnId, path, fromHunk }), messageOf),
    // `after` names the captured state: another one has other diffs.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [sessionId, turnId, after],
  );
  useEffect(() => {
    loader.open();
    return () => loader.close();
  }, [loader]);
  return loader;
}

/** The layout that the user last chose; it is a setting, so it holds for every turn. */
function useDiffLayout(): [Layout, (layout: Layout) => void] {
  const layout = useApp((app) => app.state?.settings.diffLayout ?? "unified");
  return [layout, (diffLayout) => void changeSettings({ diffLayout })];
}

function LayoutChoice({ layout, onChoose }: { layout: Layout; onChoose: (layout: Layout) => void }) {
  const words = text.changes.diff;
  return (
    <span className="seg" role="group" aria-label={words.layout}>
      <button type="button" className={layout === "split" ? "on" : ""} aria-pressed={layout === "split"} onClick={() => onChoose("split")}>
        <Icon name="split" />
        {words.split}
      </button>
      <button type="button" className={layout === "unified" ? "on" : ""} aria-pressed={layout === "unified"} onClick={() => onChoose("unified")}>
        <Icon name="rows" />
        {words.unified}
      </button>
    </span>
  );
}

function Keys({ split }: { split: boolean }) {
  const words = text.changes.diff.keys;
  return (
    <div className="keys" aria-hidden="true">
      <span>
        <kbd>n</kbd>
        <kbd>p</kbd>
        {words.hunk}
      </span>
      <span>
        <kbd>]</kbd>
        <kbd>[</kbd>
        {words.file}
      </span>
      {split ? (
        <span>
          <kbd>s</kbd>
          {words.layout}
        </span>
      ) : null}
      <span>
        <kbd>Esc</kbd>
        {words.close}
      </span>
    </div>
  );
}

type NothingProps = { title: string; note?: string; sign?: boolean; children?: React.ReactNode; onClose: () => void };

function Nothing({ title, note, sign = false, children, onClose }: NothingProps) {
  return (
    <div className="changes-nothing">
      <IconButton icon="close" name={text.changes.close} keys="Esc" className="wide-close" onClick={onClose} />
      <div className="changes-nothing-in" role="status">
        <p className="flex">
          {sign ? <StateSign name="attention" /> : null}
          <b>{title}</b>
        </p>
        {note === undefined ? null : <p className="text2">{note}</p>}
        {children}
      </div>
    </div>
  );
}

function without<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const rest = new Set(set);
  rest.delete(item);
  return rest;
}
