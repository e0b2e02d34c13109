/** Endpoints that speak OpenAI Chat Completions, as data. An address is only a start: the user can change it. */

/** Where a preset's server runs. */
export type PresetPlace = "this_computer" | "network";

/** One endpoint to start from. */
export type Preset = {
  /** Becomes the provider's name. */
  name: string;
  /** How it is shown. */
  label: string;
  /** Empty where the user has to give it. */
  baseUrl: string;
  place: PresetPlace;
  /** Whether the endpoint answers without a key. */
  key: "needed" | "optional";
  /** What a model id looks like there. */
  example: string;
};

/** Read on 2026-11-30 from the pages of each. */
export const PRESETS: readonly Preset[] = [
  { name: "ollama", label: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", place: "this_computer", key: "optional", example: "qwen3-coder:30b" },
  { name: "lm-studio", label: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1", place: "this_computer", key: "optional", example: "qwen/qwen3-coder-30b" },
  { name: "llama-cpp", label: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1", place: "this_computer", key: "optional", example: "default" },
  { name: "openai", label: "OpenAI", baseUrl: "https://api.openai.com/v1", place: "network", key: "needed", example: "gpt-5.1" },
  { name: "deepseek", label: "DeepSeek", baseUrl: "https://api.deepseek.com/v1", place: "network", key: "needed", example: "deepseek-chat" },
  { name: "openrouter", label: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", place: "network", key: "needed", example: "deepseek/deepseek-chat" },
  { name: "custom", label: "Any endpoint", baseUrl: "", place: "network", key: "optional", example: "" },
];

/** Returns the host of an address, for display. */
export function hostOf(baseUrl: string): string {
  try {
    return new URL(baseUrl).host;
  } catch {
    return baseUrl;
  }
}

/** Returns the preset that an address was started from; the last one, for any endpoint, when there is none. */
export function presetOf(baseUrl: string): Preset {
  const found = PRESETS.find((preset) => preset.baseUrl !== "" && preset.baseUrl === baseUrl) ?? PRESETS[PRESETS.length - 1];
  if (found === undefined) throw new Error("there is always a preset for any endpoint");
  return found;
}
