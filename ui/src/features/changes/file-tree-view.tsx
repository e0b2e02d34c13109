/** The files of a turn below their folders, with filter and counts. Virtual: 2,000 files are 30 rows. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";

import { Icon } from "../../components/icon";
import type { ChangedFile, ChangeSource, SkippedPath } from "../../protocol";
import { text } from "../../text/en";
import { FileTags } from "./file-tags";
import { countSources, type Filter, type TreeRow, treeRows } from "./file-tree";
import { LineCounts } from "../../components/line-counts";
import { SourceSign } from "./source-sign";

type Props = {
  number: number;
  all: readonly ChangedFile[];
  shown: readonly ChangedFile[];
  skipped: readonly SkippedPath[];
  filter: Filter;
  onFilter: (filter: Filter) => void;
  here: string | null;
  onChoose: (path: string) => void;
};

const SOURCES: readonly ChangeSource[] = ["agent", "shell", "outside"];

/** Files from which on a field to filter by name is worth its line. */
const FILTER_FROM = 8;

/** Height of a row in rem, as `changes.css` has it. */
const ROW_REM = 1.625;

export function FileTreeView(props: Props) {
  const { number, all, shown, skipped, filter, onFilter } = props;
  const counts = useMemo(() => countSources(all), [all]);
  const present = SOURCES.filter((source) => counts[source] > 0);
  return (
    <aside className="tree" aria-label={text.changes.tree.label(number)}>
      <div className="pane-h">
        <span className="grow">{text.changes.files(all.length)}</span>
        {present.length > 1 ? (
          <span className="seg" role="group" aria-label={text.changes.tree.legend}>
            <button type="button" className={filter.source === null ? "on" : ""} aria-pressed={filter.source === null} onClick={() => onFilter({ ...filter, source: null })}>
              {text.changes.tree.all}
            </button>
            {present.map((source) => {
              const on = filter.source === source;
              const name = text.changes.tree.sourceFilter(source, counts[source]);
              return (
                <button key={source} type="button" className={on ? "on" : ""} aria-pressed={on} aria-label={name} title={name} onClick={() => onFilter({ ...filter, source: on ? null : source })}>
                  <SourceSign source={source} silent />
                  <span className="num">{counts[source]}</span>
                </button>
              );
            })}
          </span>
        ) : null}
      </div>
      {all.length >= FILTER_FROM ? (
        <div className="tree-filter">
          <Icon name="search" />
          <input
            type="search"
            value={filter.text}
            placeholder={text.changes.tree.filter}
            aria-label={text.changes.tree.filter}
            spellCheck={false}
            onChange={(event) => onFilter({ ...filter, text: event.target.value })}
          />
        </div>
      ) : null}
      {shown.length === 0 ? <p className="tree-none muted">{text.changes.tree.none}</p> : <TreeRows {...props} />}
      <TreeFoot sources={present} skipped={skipped} />
    </aside>
  );
}

function TreeRows({ shown, here, onChoose }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => treeRows(shown, closed), [shown, closed]);
  const rem = remPixels();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_REM * rem,
    overscan: 10,
  });
  const hereAt = rows.findIndex((row) => row.kind === "file" && row.file.path === here);
  useEffect(() => {
    if (hereAt !== -1) virtual.scrollToIndex(hereAt, { align: "auto" });
  }, [hereAt, virtual]);
  const toggle = (folder: string) => {
    const next = new Set(closed);
    if (!next.delete(folder)) next.add(folder);
    setClosed(next);
  };
  return (
    <div className="tree-rows" ref={scroller}>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <div key={item.key} className="tree-at" style={{ transform: `translateY(${item.start}px)` }}>
              <TreeLine row={row} here={here} onChoose={onChoose} onToggle={toggle} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

type LineProps = { row: TreeRow; here: string | null; onChoose: (path: string) => void; onToggle: (folder: string) => void };

function TreeLine({ row, here, onChoose, onToggle }: LineProps) {
  if (row.kind === "folder") {
    return (
      <button type="button" className="row" aria-expanded={row.open} title={text.changes.tree.folder(row.path, row.files)} onClick={() => onToggle(row.path)}>
        <Icon name={row.open ? "down" : "right"} />
        <span className="grow cut folder-path">{row.path}</span>
      </button>
    );
  }
  const { file } = row;
  const current = file.path === here;
  return (
    <button
      type="button"
      className={`row d${row.depth} ${current ? "is-here" : ""} ${file.rolledBack ? "gone" : ""}`}
      aria-current={current ? "true" : undefined}
      title={file.path}
      onClick={() => onChoose(file.path)}
    >
      <SourceSign source={file.source} />
      <span className="grow cut what">{row.name}</span>
      <FileTags file={file} tight />
      {file.kind === "modified" ? <LineCounts added={file.added} removed={file.removed} /> : null}
    </button>
  );
}

function TreeFoot({ sources, skipped }: { sources: readonly ChangeSource[]; skipped: readonly SkippedPath[] }) {
  return (
    <div className="foot">
      {skipped.length > 0 ? (
        <details className="skipped">
          <summary>{text.changes.tree.skipped(skipped.length)}</summary>
          <ul>
            {skipped.slice(0, 200).map((path) => (
              <li key={path.path}>
                <code>{path.path}</code> {path.reason}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      {sources.map((source) => (
        <div key={source} className="flex gap2">
          <SourceSign source={source} silent />
          {text.changes.sources[source]}
        </div>
      ))}
    </div>
  );
}

/** Pixels of one rem now: the text size of the user moves it. */
export function remPixels(): number {
  const size = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Number.isFinite(size) && size > 0 ? size : 16;
}
