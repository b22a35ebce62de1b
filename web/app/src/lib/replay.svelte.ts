/** A run that was recorded (record.mjs), told again at the speed at which it went. */
import recording from '../data/recorded.json';
import { History } from './history.svelte';

const TICK_MS = 100;
const reduced = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class Replay {
    readonly about = recording;
    history = $state.raw(new History());
    playing = $state(false);
    /** Seconds of the recording that were told. */
    elapsed = $state(0);
    private told = { steps: 0, checks: 0, samples: 0 };
    private timer: ReturnType<typeof setInterval> | undefined;

    constructor() {
        if (reduced()) this.tell(recording.seconds * 1000); // all of it at once: nothing moves
        else this.play();
    }

    get over(): boolean {
        return this.elapsed >= recording.seconds;
    }

    play(): void {
        if (this.over) this.rewind();
        this.playing = true;
        let last = performance.now();
        this.timer = setInterval(() => {
            const now = performance.now();
            this.tell(this.elapsed * 1000 + now - last);
            last = now;
            if (this.over) this.pause();
        }, TICK_MS);
    }

    pause(): void {
        clearInterval(this.timer);
        this.playing = false;
        this.history.refresh();
    }

    private rewind(): void {
        this.history = new History();
        this.told = { steps: 0, checks: 0, samples: 0 };
        this.elapsed = 0;
    }

    /** All up to that many milliseconds. */
    private tell(ms: number): void {
        const { told, history } = this;
        const { at, loss, gradNorm, lr, checks, samples, seconds } = recording;
        for (; told.steps < at.length && at[told.steps]! <= ms; told.steps++) {
            const i = told.steps;
            history.hear({ type: 'step', step: i + 1, loss: loss[i]!, gradNorm: gradNorm[i]!, lr: lr[i]!, seconds: 0, tokensPerSecond: 0 });
        }
        for (; told.checks < checks.length && (checks[told.checks]![0] as number) <= ms; told.checks++) {
            const [, step, held] = checks[told.checks] as [number, number, number];
            history.hear({ type: 'evaluated', step, loss: held });
        }
        for (; told.samples < samples.length && (samples[told.samples]![0] as number) <= ms; told.samples++) {
            const [, step, text] = samples[told.samples] as [number, number, string];
            history.hear({ type: 'sampled', step, text });
        }
        this.elapsed = Math.min(ms / 1000, seconds);
        if (this.over) history.refresh();
    }
}
