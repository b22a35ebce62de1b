/** A text that the model writes, token by token. */
import type { SampledToken, SampleSettings } from 'posttrain-engine';
import { inPlainWords } from './knobs';
import type { Lab } from './lab.svelte';

const REFRESH_MS = 100;

export class Writer {
    prompt = $state('');
    text = $state('');
    /** What came so far, each with its logits. */
    written = $state.raw<SampledToken[]>([]);
    tokensPerSecond = $state(0);
    /** From the call to the first token, milliseconds: the prompt's forward pass. */
    firstAfter = $state(0);
    writing = $state(false);
    problem = $state('');
    private ending: AbortController | undefined;

    async write(lab: Lab, settings: SampleSettings): Promise<void> {
        const blank = { text: '', written: [], tokensPerSecond: 0, firstAfter: 0, problem: '' };
        Object.assign(this, { ...blank, prompt: settings.prompt ?? '', writing: true });
        this.ending = new AbortController();
        const begun = performance.now();
        const tokens: SampledToken[] = [];
        let text = '';
        let first = 0;
        let shown = begun;
        const show = () => {
            shown = performance.now();
            const seconds = (shown - begun - first) / 1000;
            Object.assign(this, { text, written: tokens.slice(), tokensPerSecond: tokens.length > 1 ? (tokens.length - 1) / Math.max(1e-3, seconds) : 0, firstAfter: first });
        };
        try {
            for await (const token of lab.engine.sample({ ...settings, logits: true }, { signal: this.ending.signal })) {
                first ||= performance.now() - begun;
                text += token.text;
                tokens.push(token);
                if (performance.now() - shown > REFRESH_MS) show();
            }
        } catch (error) {
            this.problem = inPlainWords((error as Error).message);
        }
        show();
        this.writing = false;
    }

    stop(): void {
        this.ending?.abort();
    }
}
