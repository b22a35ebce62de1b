/** A text that the model writes, token by token. */
import type { SampledToken, SampleSettings } from 'posttrain-engine';
import { inPlainWords } from './knobs';
import type { Lab } from './lab.svelte';

const REFRESH_MS = 50;

export class Writer {
    prompt = $state('');
    text = $state('');
    last = $state.raw<SampledToken | undefined>();
    tokens = $state(0);
    tokensPerSecond = $state(0);
    writing = $state(false);
    problem = $state('');
    private ending: AbortController | undefined;

    async write(lab: Lab, settings: SampleSettings): Promise<void> {
        Object.assign(this, { prompt: settings.prompt ?? '', text: '', last: undefined, tokens: 0, tokensPerSecond: 0, problem: '', writing: true });
        this.ending = new AbortController();
        const begun = performance.now();
        let written = '';
        let n = 0;
        let last: SampledToken | undefined;
        let shown = begun;
        const show = () => {
            shown = performance.now();
            Object.assign(this, { text: written, tokens: n, last, tokensPerSecond: (1000 * n) / Math.max(1, shown - begun) });
        };
        try {
            for await (const token of lab.engine.sample(settings, { signal: this.ending.signal })) {
                written += token.text;
                last = token;
                n++;
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
