/** Colours, text size, layout of diffs. */
import { Button } from "../../components/button";
import { IconButton } from "../../components/icon-button";
import type { DiffLayout, Settings, Theme } from "../../protocol";
import { changeSettings, stepTextScale } from "../../state/actions";
import { text } from "../../text/en";
import { ChoiceGroup } from "./choice-group";

const THEMES: readonly Theme[] = ["system", "light", "dark", "hc_light", "hc_dark"];
const LAYOUTS: readonly DiffLayout[] = ["unified", "split"];

export function LookPage({ settings }: { settings: Settings }) {
  const words = text.settings.look;
  return (
    <>
      <p className="lede">{words.lede}</p>
      <ChoiceGroup
        label={words.theme}
        value={settings.theme}
        options={THEMES.map((theme) => ({ value: theme, name: words.themes[theme] }))}
        onChoose={(theme) => void changeSettings({ theme })}
      />
      <div className="setting" role="group" aria-label={words.textScale}>
        <span className="setting-name">{words.textScale}</span>
        <span className="flex">
          <IconButton icon="minus" name={words.smaller} keys="Ctrl -" onClick={() => stepTextScale(-1)} disabled={settings.textScale <= 0.9} />
          <span className="num setting-scale" aria-live="polite">
            {words.percent(settings.textScale)}
          </span>
          <IconButton icon="plus" name={words.larger} keys="Ctrl +" onClick={() => stepTextScale(1)} disabled={settings.textScale >= 2} />
          {settings.textScale === 1 ? null : (
            <Button dense tone="quiet" onClick={() => stepTextScale(0)}>
              {words.reset}
            </Button>
          )}
        </span>
        <p className="small muted">{words.textScaleNote}</p>
      </div>
      <ChoiceGroup
        label={words.diffLayout}
        value={settings.diffLayout}
        options={LAYOUTS.map((layout) => ({ value: layout, name: words.layouts[layout] }))}
        onChoose={(diffLayout) => void changeSettings({ diffLayout })}
      />
      <p className="small muted setting-after">{words.diffNote}</p>
    </>
  );
}
