/** English words of the settings. */
import type { DiffLayout, Mode, ShellPolicy, SnapshotMode, Theme } from "../../protocol";

const themes: Record<Theme, string> = { system: "As the system", light: "Light", dark: "Dark", hc_light: "Light, high contrast", hc_dark: "Dark, high contrast" };

const modes: Record<Mode, { name: string; note: string }> = {
  discuss: { name: "Discuss", note: "Talks and reads. Changes nothing." },
  plan: { name: "Plan", note: "Reads and makes a plan. Changes nothing." },
  interactive: { name: "Act, asking", note: "Asks before anything that has an effect." },
  auto: { name: "Act on its own", note: "Cannot be a default. Choose it in a session." },
};

const shellPolicies: Record<ShellPolicy, { name: string; note: string }> = {
  approve: { name: "Every command asks", note: "Unless a rule of yours allows it." },
  sandbox: { name: "Confined commands run", note: "A command that the system really confines to the folder does not ask. Without confinement every command asks." },
  workspace: { name: "Workspace", note: "As confined commands: what is not confined asks." },
  all: { name: "All", note: "As confined commands: what is not confined asks." },
};

const layouts: Record<DiffLayout, string> = { unified: "Unified", split: "Split" };

const snapshots: Record<SnapshotMode, { name: string; note: string }> = {
  shadow: { name: "On", note: "Each turn sets a stone, and can be rolled back." },
  off: { name: "Off", note: "Nothing is captured, nothing can be rolled back." },
};

export const settings = {
  title: "Settings",
  close: "Close settings",
  sections: { models: "Models", permissions: "Agent", snapshots: "Snapshots", appearance: "Look and text", about: "About" },
  saveFailed: "The setting was not saved",
  look: {
    lede: "How the window looks. Holds at once.",
    theme: "Colours",
    themes,
    textScale: "Text size",
    textScaleNote: "Scales the whole window.",
    smaller: "Smaller text",
    larger: "Larger text",
    percent: (scale: number) => `${Math.round(scale * 100)} %`,
    reset: "100 %",
    diffLayout: "Diffs",
    diffNote: "In a narrow window a diff is always unified.",
    layouts,
  },
  agent: {
    lede: "What the agent may do, and when it asks. Holds for new turns.",
    mode: "Mode of a new session",
    modes,
    shellPolicy: "Shell commands",
    shellPolicies,
    sandboxNow: "Here",
    native: "Ask for everything in a dialog of the system",
    nativeNote: "Slower, and nothing that the model writes can imitate it. What widens is always asked there.",
    maxIterations: "Most model requests in a turn",
    maxIterationsNote: "The turn ends there and keeps its work. 1 to 10,000.",
    idleTimeout: "Longest silence of a model",
    idleTimeoutNote: "In seconds. Then the request is tried again. 0 waits for ever.",
    seconds: "seconds",
    requests: "requests",
    notInRange: (least: number, most: number) => `A whole number from ${least} to ${most.toLocaleString("en")}`,
  },
  snapshots: {
    lede: "Every turn is captured before and after, in a store outside your folder. This is what rolling back needs.",
    mode: "Capture turns",
    modes: snapshots,
    isOff: "Snapshots are off. New turns cannot be rolled back.",
  },
  about: {
    version: "Version",
    platforms: { linux: "Linux", macos: "macOS", windows: "Windows" } as Record<string, string>,
    confinement: "Commands",
    testing: "Not tested yet",
    keys: "Keys",
    keychain: "Kept in the system keychain.",
    problems: "Problems",
    privacy: "Privacy",
    privacyNote: "Requests go to the models that you connect, and nowhere else.",
    licence: "Licence",
    licenceNote: "MIT or Apache-2.0",
  },
  models: {
    lede: "A new session starts with the default. A session can change its model between turns.",
    add: "Add a model",
    none: "No model is connected.",
    columns: { model: "Model", endpoint: "Endpoint", context: "Context", key: "Key", acts: "Acts" },
    default: "default",
    makeDefault: "Make default",
    makeDefaultLabel: (model: string) => `Make ${model} the default`,
    change: "Change",
    changeLabel: (name: string) => `Change ${name}`,
    remove: "Remove",
    removeLabel: (name: string) => `Remove ${name}`,
    tokens: (count: number) => count.toLocaleString("en"),
    unknown: "not known",
    script: "a script, not an AI",
  },
};
