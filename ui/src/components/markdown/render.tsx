/**
 * Turns the tree of one markdown block into elements of a closed table. Nothing in the text becomes HTML, no address
 * becomes an href or src: a link is a button, an image a labelled placeholder.
 */
import type { SyntaxNode } from "@lezer/common";
import type { ReactNode } from "react";

import { CodeBlock } from "../code-block";
import { InertImage, InertLink } from "./inert";

/** What rendering needs of its place: the source of the block. */
interface Context {
  source: string;
}

const text = (ctx: Context, node: SyntaxNode) => ctx.source.slice(node.from, node.to);

/** Renders the children of a block node, and the plain text between its marks. */
function inline(ctx: Context, node: SyntaxNode, from = node.from, to = node.to): ReactNode[] {
  const out: ReactNode[] = [];
  let at = from;
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.to <= at || child.from < from) continue;
    if (child.from >= to) break;
    if (child.from > at) out.push(ctx.source.slice(at, child.from));
    out.push(inlineNode(ctx, child));
    at = child.to;
  }
  if (at < to) out.push(ctx.source.slice(at, to));
  return out;
}

/** The text between the first and the last mark of an emphasis or a link's label. */
function inner(ctx: Context, node: SyntaxNode): ReactNode[] {
  const marks: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) if (child.name.endsWith("Mark")) marks.push(child);
  const first = marks[0];
  const last = node.name === "Link" || node.name === "Image" ? marks[1] : marks.at(-1);
  if (!first || !last || first === last) return inline(ctx, node);
  return inline(ctx, node, first.to, last.from);
}

function inlineNode(ctx: Context, node: SyntaxNode): ReactNode {
  const key = node.from;
  switch (node.name) {
    case "Emphasis":
      return <em key={key}>{inner(ctx, node)}</em>;
    case "StrongEmphasis":
      return <strong key={key}>{inner(ctx, node)}</strong>;
    case "Strikethrough":
      return <s key={key}>{inner(ctx, node)}</s>;
    case "InlineCode":
      return <code key={key}>{codeText(ctx, node)}</code>;
    case "Link":
      return link(ctx, node);
    case "Image":
      return <InertImage key={key} name={plain(ctx, node) || address(ctx, node)} />;
    case "Autolink":
    case "URL": {
      const url = text(ctx, node).replace(/^<|>$/g, "");
      return (
        <InertLink key={key} url={withScheme(url)}>
          {url}
        </InertLink>
      );
    }
    case "HardBreak":
      return <br key={key} />;
    case "Escape":
      return text(ctx, node).slice(1);
    case "Entity":
      return entity(text(ctx, node));
    case "QuoteMark":
    case "HeaderMark":
    case "LinkMark":
    case "EmphasisMark":
      return null;
    default:
      // HTML tags, comments and whatever else: what was typed, as text.
      return text(ctx, node);
  }
}

/** A bare address as it is opened. */
function withScheme(url: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return url;
  return url.includes("@") ? `mailto:${url}` : `https://${url}`;
}

function link(ctx: Context, node: SyntaxNode): ReactNode {
  const url = address(ctx, node);
  const shown = inner(ctx, node);
  if (url === "") return <span key={node.from}>{text(ctx, node)}</span>;
  return (
    <InertLink key={node.from} url={url}>
      {shown}
    </InertLink>
  );
}

function address(ctx: Context, node: SyntaxNode): string {
  const url = node.getChild("URL");
  return url ? text(ctx, url).replace(/^<|>$/g, "") : "";
}

function plain(ctx: Context, node: SyntaxNode): string {
  const marks = node.getChildren("LinkMark");
  return marks[0] && marks[1] ? ctx.source.slice(marks[0].to, marks[1].from) : "";
}

function codeText(ctx: Context, node: SyntaxNode): string {
  const marks = node.getChildren("CodeMark");
  const [first, last] = [marks[0], marks.at(-1)];
  const body = first && last && first !== last ? ctx.source.slice(first.to, last.from) : text(ctx, node);
  return body.replaceAll("\n", " ").replace(/^ (.*[^ ].*) $/, "$1");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", hellip: "…", mdash: "—", ndash: "–" };

function entity(source: string): string {
  const name = source.slice(1, -1);
  const number = /^#x?[0-9a-f]+$/i.test(name) ? Number(name[1] === "x" || name[1] === "X" ? `0${name.slice(1)}` : name.slice(1)) : NaN;
  if (Number.isFinite(number)) return number > 0 && number <= 0x10ffff ? String.fromCodePoint(number) : "\ufffd";
  return ENTITIES[name] ?? source;
}

function blocks(ctx: Context, node: SyntaxNode): ReactNode[] {
  const out: ReactNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    const made = blockNode(ctx, child);
    if (made !== null) out.push(made);
  }
  return out;
}

function blockNode(ctx: Context, node: SyntaxNode): ReactNode {
  const key = node.from;
  switch (node.name) {
    case "Paragraph":
      return <p key={key}>{trimmed(inline(ctx, node))}</p>;
    case "ATXHeading1":
    case "SetextHeading1":
    case "ATXHeading2":
    case "SetextHeading2":
      return <h3 key={key}>{trimmed(inline(ctx, node))}</h3>;
    case "ATXHeading3":
    case "ATXHeading4":
    case "ATXHeading5":
    case "ATXHeading6":
      return <h4 key={key}>{trimmed(inline(ctx, node))}</h4>;
    case "FencedCode":
    case "CodeBlock":
      return <CodeBlock key={key} code={fencedText(ctx, node)} language={fencedLanguage(ctx, node)} />;
    case "BulletList":
      return <ul key={key}>{listItems(ctx, node)}</ul>;
    case "OrderedList":
      return (
        <ol key={key} start={listStart(ctx, node)}>
          {listItems(ctx, node)}
        </ol>
      );
    case "Blockquote":
      return <blockquote key={key}>{blocks(ctx, node)}</blockquote>;
    case "HorizontalRule":
      return <hr key={key} />;
    case "Table":
      return table(ctx, node);
    case "Task":
      return <p key={key}>{trimmed(inline(ctx, node, node.firstChild?.to ?? node.from))}</p>;
    case "ListMark":
    case "QuoteMark":
    case "LinkReference":
      return null;
    default:
      return <p key={key}>{text(ctx, node)}</p>;
  }
}

/** Drops white space at the ends, where a mark was left out. */
function trimmed(parts: ReactNode[]): ReactNode[] {
  const shown = parts.filter((part) => part !== null && part !== "");
  return shown.map((part, i) => {
    if (typeof part !== "string") return part;
    const head = i === 0 ? part.trimStart() : part;
    return i === shown.length - 1 ? head.trimEnd() : head;
  });
}

/** Text of a fence, line by line: inside a quote or a list the marks and the indent are nodes of their own. */
function fencedText(ctx: Context, node: SyntaxNode): string {
  return node
    .getChildren("CodeText")
    .map((part) => text(ctx, part))
    .join("");
}

function fencedLanguage(ctx: Context, node: SyntaxNode): string {
  const info = node.getChild("CodeInfo");
  return info ? (text(ctx, info).split(/[\s,{]/)[0] ?? "") : "";
}

function listStart(ctx: Context, node: SyntaxNode): number {
  const mark = node.getChild("ListItem")?.getChild("ListMark");
  return mark ? Number.parseInt(text(ctx, mark), 10) || 1 : 1;
}

function listItems(ctx: Context, node: SyntaxNode): ReactNode[] {
  return node.getChildren("ListItem").map((item) => {
    const task = item.getChild("Task");
    const only = item.getChildren("Paragraph").length === 1 && item.lastChild?.name === "Paragraph";
    const paragraph = item.getChild("Paragraph");
    if (task) {
      const mark = task.getChild("TaskMarker");
      const done = mark !== null && /x/i.test(text(ctx, mark));
      return (
        <li key={item.from} className="task">
          <span role="img" aria-label={done ? "done" : "open"}>
            {done ? "☑" : "☐"}
          </span>
          <div>{blocks(ctx, item)}</div>
        </li>
      );
    }
    return <li key={item.from}>{only && paragraph ? trimmed(inline(ctx, paragraph)) : blocks(ctx, item)}</li>;
  });
}

function table(ctx: Context, node: SyntaxNode): ReactNode {
  const cells = (row: SyntaxNode, Cell: "th" | "td") =>
    row.getChildren("TableCell").map((cell) => <Cell key={cell.from}>{trimmed(inline(ctx, cell))}</Cell>);
  const head = node.getChild("TableHeader");
  return (
    <div className="md-table" key={node.from}>
      <table>
        {head ? (
          <thead>
            <tr>{cells(head, "th")}</tr>
          </thead>
        ) : null}
        <tbody>
          {node.getChildren("TableRow").map((row) => (
            <tr key={row.from}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Renders the blocks below a document node. */
export function renderMarkdown(source: string, root: SyntaxNode): ReactNode[] {
  return blocks({ source }, root);
}
