/** One row of the conversation: the path on the left with what lies on it, the body on the right. */
import type { ReactNode } from "react";

export interface LaneProps {
  /** What lies on the path: a time, a stone, or nothing. */
  mark?: ReactNode;
  /** Whether the mark sits in the middle of the row. */
  middle?: boolean;
  /** Whether the path is dashed: the turn still runs. */
  dashed?: boolean;
  /** Room above, for the beginning of a turn; below, for its end. */
  start?: boolean;
  end?: boolean;
  /** No room below: the next row belongs to the same box. */
  tight?: boolean;
  /** Where the path begins or ends in this row. */
  line?: "through" | "from-top" | "to-mid" | "to-mark" | "none";
  children: ReactNode;
}

export function Lane(props: LaneProps) {
  const { mark, middle = false, dashed = false, start = false, end = false, tight = false, line = "through", children } = props;
  const classes = [
    "lane",
    dashed ? "is-dashed" : "",
    start ? "is-start" : "",
    end ? "is-end" : "",
    tight ? "is-tight" : "",
    line === "through" ? "" : `line-${line}`,
  ];
  return (
    <div className={classes.filter(Boolean).join(" ")}>
      <div className={middle ? "at mid" : "at"}>{mark}</div>
      <div className="body">{children}</div>
    </div>
  );
}
