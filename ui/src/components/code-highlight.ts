/** Colours a piece of code with the Lezer parsers, in classes of the theme. Languages are loaded when they are met. */
import { LanguageDescription } from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import type { Parser } from "@lezer/common";

/** A run of text with one colour class, or a line end. */
export type CodeRun = { text: string; className: string };

const parsers = new Map<string, Promise<Parser | null>>();

/** Returns the parser for a language's name or alias; null when there is none. */
export function parserOf(language: string): Promise<Parser | null> {
  const known = parsers.get(language);
  if (known) return known;
  const found = LanguageDescription.matchLanguageName(languages, language, false);
  const loading = found
    ? found.load().then(
        (support) => support.language.parser,
        () => null,
      )
    : Promise.resolve(null);
  parsers.set(language, loading);
  return loading;
}

const CLASSES: readonly [RegExp, string][] = [
  [/comment|meta/, "tc"],
  [/string|inserted/, "ts"],
  [/number|bool|atom|literal/, "tn"],
  [/keyword|heading|tagName|definition.*keyword/, "tk"],
];

/** Cuts code into runs. */
export function colourCode(code: string, parser: Parser): CodeRun[] {
  const runs: CodeRun[] = [];
  const put = (text: string, classes: string) => {
    runs.push({ text, className: CLASSES.find(([pattern]) => pattern.test(classes))?.[1] ?? "" });
  };
  highlightCode(code, parser.parse(code), classHighlighter, put, () => put("\n", ""));
  return runs;
}
