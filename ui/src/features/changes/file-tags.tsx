/** What is particular about a changed file, in a word each. */
import type { ChangedFile } from "../../protocol";
import { text } from "../../text/en";

/** In the tree there is no room for *rolled back*: its name is struck through, and the word is told to screen readers. */
export function FileTags({ file, tight = false }: { file: ChangedFile; tight?: boolean }) {
  return (
    <>
      {file.rolledBack ? <span className={tight ? "sr-only" : "tag"}>{text.changes.tree.tags.rolledBack}</span> : null}
      {file.binary ? <span className="tag">{text.changes.tree.tags.binary}</span> : null}
      <KindTag file={file} />
    </>
  );
}

function KindTag({ file }: { file: ChangedFile }) {
  const { tags } = text.changes.tree;
  switch (file.kind) {
    case "created":
      return <span className="tag">{file.renamedFrom === null ? tags.added : tags.renamed}</span>;
    case "deleted":
      return <span className="tag danger">{tags.deleted}</span>;
    case "mode_changed":
      return <span className="tag">{tags.mode}</span>;
    case "kind_changed":
      return <span className="tag">{tags.kind}</span>;
    case "modified":
      return null;
  }
}
