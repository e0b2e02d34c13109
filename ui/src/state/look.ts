/** Puts theme, text size and room on the document, so that styles follow them. */
import type { Settings, Theme } from "../protocol";
import { type Room, useNavigation } from "./navigation";

const NAMES: Record<Exclude<Theme, "system">, string> = { light: "light", dark: "dark", hc_light: "hc-light", hc_dark: "hc-dark" };

/** Returns the name of the theme in the tokens. Pure. */
export function themeName(theme: Theme, systemDark: boolean, systemContrast: boolean): string {
  if (theme !== "system") return NAMES[theme];
  const shade = systemDark ? "dark" : "light";
  return systemContrast ? `hc-${shade}` : shade;
}

/** Returns the room for a width in pixels and a text size. Pure. */
export function roomFor(width: number, scale: number): Room {
  const units = width / scale;
  if (units >= 1200) return "wide";
  return units >= 820 ? "mid" : "narrow";
}

/** Follows the settings, the system's colours and the window's width until it is ended. */
export function followLook(settings: Pick<Settings, "theme" | "textScale">): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const contrast = matchMedia("(prefers-contrast: more)");
  const root = document.documentElement;
  const apply = () => {
    root.dataset.theme = themeName(settings.theme, dark.matches, contrast.matches);
    root.style.setProperty("--text-scale", String(settings.textScale));
    const room = roomFor(window.innerWidth, settings.textScale);
    root.dataset.room = room;
    useNavigation.getState().setRoom(room);
  };
  apply();
  dark.addEventListener("change", apply);
  contrast.addEventListener("change", apply);
  window.addEventListener("resize", apply);
  return () => {
    dark.removeEventListener("change", apply);
    contrast.removeEventListener("change", apply);
    window.removeEventListener("resize", apply);
  };
}
