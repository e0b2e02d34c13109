/**
 * Where the user is: which view, session, turn and dialog, and which panels are open. No data of the shell.
 *
 * Every feature reads and changes it through this store, so that no feature imports another.
 */
import { create } from "zustand";

import type { RestoreTarget } from "../protocol";

/** What fills the window's middle. */
export type View =
  | { kind: "first_run" }
  | { kind: "session"; sessionId: string }
  | { kind: "settings"; page: SettingsPageName };

export type SettingsPageName = "models" | "permissions" | "snapshots" | "appearance" | "about";

/** The dialog that is open over the window; one at a time. */
export type OpenDialog =
  | { kind: "palette"; query: string }
  | { kind: "keys" }
  | { kind: "roll_back"; sessionId: string; turnId: string; target: RestoreTarget; paths: string[] | null }
  /** `name` is the provider that is edited; null sets up a new one. */
  | { kind: "connect_model"; name: string | null }
  | { kind: "rename"; sessionId: string };

/** How wide the window is in text units: a wide window with big text is a narrow window. */
export type Room = "wide" | "mid" | "narrow";

export interface Navigation {
  view: View;
  dialog: OpenDialog | null;
  room: Room;
  /** The sessions rail. In narrow rooms it lies over the content. */
  railOpen: boolean;
  sideOpen: boolean;
  terminalOpen: boolean;
  /** The turn whose changes are shown in place of the conversation; null shows the conversation. */
  reviewedTurn: string | null;
  /** The stone that the keys act on. */
  selectedTurn: string | null;
  /** The approval whose card is open; the first one otherwise. */
  shownApproval: string | null;
  show(view: View): void;
  openDialog(dialog: OpenDialog): void;
  closeDialog(): void;
  setRoom(room: Room): void;
  setRailOpen(open: boolean): void;
  setSideOpen(open: boolean): void;
  setTerminalOpen(open: boolean): void;
  /** Opens the changes of a turn; null goes back to the conversation. */
  review(turnId: string | null): void;
  selectTurn(turnId: string | null): void;
  showApproval(approvalId: string | null): void;
}

export const useNavigation = create<Navigation>()((set, get) => ({
  view: { kind: "first_run" },
  dialog: null,
  room: "wide",
  railOpen: true,
  sideOpen: true,
  terminalOpen: false,
  reviewedTurn: null,
  selectedTurn: null,
  shownApproval: null,
  show: (view) => set({ view, reviewedTurn: null, selectedTurn: null, shownApproval: null, railOpen: get().room === "narrow" ? false : get().railOpen }),
  openDialog: (dialog) => set({ dialog }),
  closeDialog: () => set({ dialog: null }),
  setRoom: (room) => {
    if (room === get().room) return;
    set({ room, railOpen: room !== "narrow", sideOpen: room === "wide" });
  },
  setRailOpen: (railOpen) => set({ railOpen }),
  setSideOpen: (sideOpen) => set({ sideOpen }),
  setTerminalOpen: (terminalOpen) => set({ terminalOpen }),
  review: (reviewedTurn) => set({ reviewedTurn, selectedTurn: reviewedTurn ?? get().selectedTurn }),
  selectTurn: (selectedTurn) => set({ selectedTurn }),
  showApproval: (shownApproval) => set({ shownApproval }),
}));

/** Returns the session that is shown, if one is. */
export function shownSession(view: View): string | null {
  return view.kind === "session" ? view.sessionId : null;
}
