/** A short text, looked into: where every head looks, and what each layer would say next. */
import type { Likely, Look } from 'posttrain-engine';
import { inPlainWords } from './knobs';
import type { Lab } from './lab.svelte';

/** Of a longer text the end: a grid of more cells than this squared helps nobody. */
export const MOST_TOKENS = 40;
const TOP = 5;

export interface Looked extends Look {
    /** Of each layer: heads x tokens x tokens, row i is where token i looks. */
    attention: Float32Array[];
    /** The likeliest next tokens of each position, before the first block and after each. */
    lens: Likely[][][];
    /** The model's own, tokens x vocab. */
    logits: Float32Array;
    /** Steps of training that the model had. */
    step: number;
    cut: boolean;
}

export class Inspector {
    seen = $state.raw<Looked | undefined>();
    working = $state(false);
    problem = $state('');

    async look(lab: Lab, text: string): Promise<void> {
        if (this.working) return;
        Object.assign(this, { working: true, problem: '' });
        try {
            this.seen = await this.run(lab, text || '\n');
        } catch (error) {
            this.problem = inPlainWords((error as Error).message);
        }
        this.working = false;
    }

    private async run(lab: Lab, text: string): Promise<Looked> {
        const { engine } = lab;
        const bytes = new TextEncoder().encode(text);
        const most = Math.min(MOST_TOKENS, lab.file?.info.ctx ?? lab.settings.ctx ?? MOST_TOKENS);
        const step = lab.file?.info.step ?? lab.history.count;
        const look = await engine.look(bytes.slice(-most));
        const attention: Float32Array[] = [];
        const lens: Likely[][][] = [];
        let logits = new Float32Array();
        for (let layer = 0; layer <= look.layers; layer++) {
            if (layer < look.layers) attention.push(await engine.attention(layer));
            const { values, top } = await engine.lens(layer, TOP);
            lens.push(top ?? []);
            logits = values;
        }
        return { ...look, attention, lens, logits, step, cut: bytes.length > most };
    }
}

/** The weights of one head, tokens x tokens. */
export function headOf({ attention, tokens }: Looked, layer: number, head: number): Float32Array {
    const cells = tokens.length ** 2;
    return attention[layer]!.subarray(head * cells, (head + 1) * cells);
}

/** In a few words, where a head looks on average. The first token can only look at itself, so it does not count. */
export function habitOf(weights: Float32Array, n: number): string {
    if (n < 3) return 'the text is too short to tell';
    const share = (pick: (row: number) => number) => {
        let sum = 0;
        for (let row = 2; row < n; row++) sum += weights[row * n + pick(row)]!;
        return sum / (n - 2);
    };
    const habits = [
        { words: 'itself', share: share((row) => row) },
        { words: 'the byte before', share: share((row) => row - 1) },
        { words: 'the first byte', share: share(() => 0) },
    ].sort((a, b) => b.share - a.share);
    const { words, share: most } = habits[0]!;
    return most < 0.3 ? 'spread out' : `${Math.round(100 * most)} % on ${words}`;
}
