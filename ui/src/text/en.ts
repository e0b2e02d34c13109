/**
 * Every word that the window shows, in English. A second language is another object of the same shape.
 *
 * Each area has its own file in `en/`, so that a feature's words change with the feature. Values are texts, or
 * functions where a number or a name goes in: plural forms differ between languages.
 */
import { changes } from "./en/changes";
import { conversation } from "./en/conversation";
import { firstRun } from "./en/first-run";
import { frame } from "./en/frame";
import { models } from "./en/models";
import { settings } from "./en/settings";
import { terminal } from "./en/terminal";

export const en = { changes, conversation, firstRun, frame, models, settings, terminal };

export type Catalogue = typeof en;

/** The catalogue in use. */
export const text: Catalogue = en;
