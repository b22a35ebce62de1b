/** What a curve says, in words: what was reached on the way, and what to do next. */
import { decimal } from './format';

/** Nats per byte, and what a model below that can usually do. */
export const MILESTONES = [
    { below: 5.25, words: 'better than guessing blindly' },
    { below: 3.2, words: 'knows which bytes are common' },
    { below: 2.5, words: 'knows which bytes follow which' },
    { below: 2, words: 'spells short words' },
    { below: 1.5, words: 'spells most words' },
    { below: 1, words: 'knows phrases, or the text by heart' },
];

export interface Milestone {
    step: number;
    below: number;
    words: string;
}

export interface Verdict {
    kind: 'learning' | 'level' | 'overfit' | 'rising';
    words: string;
}

/** Fewer steps and checks say nothing. */
const FEWEST_STEPS = 100;
const FEWEST_CHECKS = 4;
/** Nats: a held-out loss so far above its best is no accident; a change smaller than that in a quarter of the run is none. */
const WORSE = 0.03;
const LEVEL = 0.01;

const mean = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;

/** The mean of the last quarter of the steps, and by how much it is below that of the quarter before. Of 4 steps or more. */
export function trendOf(loss: readonly number[]): { steps: number; now: number; fell: number } {
    const steps = Math.floor(loss.length / 4);
    const now = mean(loss.slice(-steps));
    return { steps, now, fell: mean(loss.slice(-2 * steps, -steps)) - now };
}

/** In a word or two. */
export function trendWords(fell: number): string {
    return fell < -WORSE ? 'rising lately' : fell < LEVEL ? 'level lately' : 'still falling';
}

/** `checks`: held-out losses in order, empty where no text is held out. */
export function verdictOn(loss: readonly number[], checks: { step: number; loss: number }[]): Verdict | undefined {
    if (loss.length < FEWEST_STEPS) return undefined;
    const { steps, now, fell } = trendOf(loss);
    const best = checks.reduce((a, b) => (b.loss < a.loss ? b : a), checks[0] ?? { step: 0, loss: Infinity });
    const last = checks.at(-1);
    if (last && checks.length >= FEWEST_CHECKS && fell > 0 && last.loss > best.loss + WORSE)
        return {
            kind: 'overfit',
            words: `It is learning the text by heart: on text it never sees it was best after ${best.step} steps, at ${decimal(best.loss, 2)}, and is at ${decimal(last.loss, 2)} now. A longer text, a smaller model or dropout helps; more steps do not.`,
        };
    if (fell < -WORSE) return { kind: 'rising', words: 'The loss is rising. A smaller learning rate or a longer warm-up is the usual cure.' };
    if (fell < LEVEL)
        return { kind: 'level', words: `It has levelled off at ${decimal(now, 2)}, for ${steps} steps by now. Early in a run that often passes; later, a larger model, a longer context or another learning rate helps more than more steps.` };
    return { kind: 'learning', words: `It is still learning: the loss of the last ${steps} steps is ${decimal(fell, 2)} below that of the ${steps} before.` };
}
