/**
 * The changes of a session: its stones on the left, the files of one turn, and their diffs; or what a restore did.
 *
 * Rolling back itself is in `roll-back-dialog.tsx`. Which turn is shown is kept by the navigation, so that a stone of the
 * conversation can open it.
 */
import { useMemo, useRef, useState } from "react";

import { IconButton } from "../../components/icon-button";
import type { RestoreRecord } from "../../protocol";
import { useNavigation } from "../../state/navigation";
import { text } from "../../text/en";
import "../../components/diff.css";
import "./changes.css";
import { RestoreReportView } from "./restore-report-view";
import { type Chosen, StonesColumn, StonesPicker } from "./stones-column";
import { miles as makeMiles } from "./stones";
import { TurnFiles } from "./turn-files";
import { useBringBack } from "./use-bring-back";
import { useDiffKeys } from "./use-diff-keys";
import { useStones } from "./use-stones";

export interface ChangesPanelProps {
  sessionId: string;
  turnId: string;
  onClose: () => void;
}

export function ChangesPanel({ sessionId, turnId, onClose }: ChangesPanelProps) {
  const root = useRef<HTMLDivElement>(null);
  const review = useNavigation((state) => state.review);
  const { turns, restores, titles } = useStones(sessionId);
  const [restoreId, setRestoreId] = useState<string | null>(null);
  const bringBack = useBringBack(sessionId);
  const miles = useMemo(() => makeMiles(turns, restores, titles), [turns, restores, titles]);
  const restore = restores.find((record) => record.report.restore_id === restoreId) ?? null;
  const turn = turns.find((record) => record.turnId === turnId) ?? null;
  const chosen: Chosen = restore === null ? { kind: "turn", id: turnId } : { kind: "restore", id: restore.report.restore_id };

  useDiffKeys(root, { close: onClose });

  const choose = (next: Chosen) => {
    setRestoreId(next.kind === "restore" ? next.id : null);
    if (next.kind === "turn" && next.id !== turnId) review(next.id);
  };
  const takeBack = async (record: RestoreRecord) => {
    const report = await bringBack.run(record.report.restore_id);
    if (report !== null) setRestoreId(report.restore_id);
  };
  return (
    <div className="changes" ref={root}>
      <div className="changes-in">
        <StonesColumn miles={miles} chosen={chosen} onChoose={choose} onBringBack={(record) => void takeBack(record)} busy={bringBack.running} />
        <div className="changes-main">
          <div className="changes-narrow">
            <StonesPicker miles={miles} chosen={chosen} onChoose={choose} />
            <IconButton icon="close" name={text.changes.close} keys="Esc" onClick={onClose} />
          </div>
          {bringBack.failure === null ? null : (
            <div className="banner danger" role="alert">
              <div className="grow">
                <b>{text.changes.result.bringBackFailed}.</b> <span className="text2">{bringBack.failure}</span>
              </div>
              <IconButton small icon="close" name={text.changes.result.close} onClick={bringBack.dismiss} />
            </div>
          )}
          {restore === null ? (
            <TurnFiles key={turnId} sessionId={sessionId} turn={turn} onClose={onClose} />
          ) : (
            <RestoreReportView
              key={restore.report.restore_id}
              report={restore.report}
              undone={restore.undoneBy !== null}
              turn={turns.find((record) => record.turnId === restore.report.turn_id) ?? null}
              busy={bringBack.running}
              onBringBack={() => void takeBack(restore)}
              onClose={() => setRestoreId(null)}
            />
          )}
        </div>
      </div>
    </div>
  );
}
