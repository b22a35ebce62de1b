/** What is being set up: the next run's text and settings, and whether it can run. */
import { chooseModule, listPresets, planRun, reachableBytes, type Plan, type Preset } from 'posttrain-engine';
import type { Backend } from './backend.svelte';
import { measureSpeed, problemOfMemory, secondsOf } from './estimate';
import { fromPreset, inPlainWords, keepsAside, modelKnobs, presetNames, problemOf, runKnobs, runSettings, type Settings } from './knobs';
import { builtIn, oddTextOf, ofBlob, ofText, type Source } from './source';

const SETTLE_MS = 150;
/** Before what can wait: the page must stand first, and a visitor may start at once. */
const CALM_MS = 1500;

/** Adam moves every weight by about so much in a step. */
const BOLD_LR = 0.1;

export type SourceKind = 'built-in' | 'paste' | 'file' | 'url';

export class Draft {
    presets = $state.raw<Preset[]>([]);
    settings = $state<Settings | undefined>();
    kind = $state<SourceKind>('built-in');
    text = $state('');
    fileName = $state('');
    /** From an address. */
    fetched = $state.raw<Source | undefined>();
    source = $state.raw<Source | undefined>();
    /** Why there is no text. */
    missing = $state('');
    plan = $state.raw<Plan | undefined>();
    /** What each preset takes as it is. */
    presetPlans = $state.raw(new Map<string, Plan>());
    /** Of this machine, measured once; undefined until then. */
    gflops = $state<number | undefined>();
    /** Why it cannot run, and what is worth knowing though it can. */
    problems = $state.raw<string[]>([]);
    remarks = $state.raw<string[]>([]);
    checking = $state(true);
    /** The visitor has set something. */
    touched = false;
    private file: Source | undefined;
    private turn = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;

    private readonly loading: Promise<void>;
    private readonly backend: Backend;

    constructor(backend: Backend) {
        this.backend = backend;
        this.loading = this.load();
        void backend.known.then(() => backend.usesGpu && this.settings && this.changed());
    }

    private async load(): Promise<void> {
        builtIn().catch(() => undefined); // on its way meanwhile; use() tells of a failure
        try {
            const all = await listPresets();
            this.presets = all.filter(({ name }) => presetNames.includes(name));
            this.choose(this.presets[0]!.name);
            await this.use(this.kind); // a visitor may have been quicker
            this.changed(0);
            void this.estimate();
        } catch (error) {
            this.checking = false;
            this.problems = [`The engine did not start. ${inPlainWords(String((error as Error).message))}`];
        }
    }

    /** One preset after the other, so that the page stays lively, and then the machine's speed. Without an estimate the page works as well. */
    private async estimate(): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, CALM_MS));
        for (const { name } of this.presets) {
            const plan = await planRun({ preset: name });
            this.presetPlans = new Map(this.presetPlans).set(name, plan);
            await new Promise((resolve) => setTimeout(resolve));
        }
        this.gflops = await measureSpeed().catch(() => undefined);
    }

    choose(name: string): void {
        const preset = this.presets.find((p) => p.name === name);
        if (!preset) return;
        const kept = this.settings ? { lr: this.settings.lr, seed: this.settings.seed, schedule: this.settings.schedule } : {};
        this.settings = { ...fromPreset(preset), ...kept };
        this.changed();
    }

    async use(kind: SourceKind): Promise<void> {
        this.kind = kind;
        this.missing = '';
        if (kind === 'built-in') {
            await this.fetchBook();
        } else if (kind === 'paste') {
            this.paste();
            return;
        } else if (kind === 'url') {
            this.source = this.fetched;
            if (!this.fetched) this.missing = 'Get a text by its address.';
        } else {
            this.source = this.file;
            if (!this.file) this.missing = 'Choose a file to learn from.';
        }
        this.changed();
    }

    private async fetchBook(): Promise<void> {
        this.checking = true;
        try {
            const book = await builtIn();
            if (this.kind === 'built-in') this.source = book;
        } catch (error) {
            if (this.kind === 'built-in') this.missing = (error as Error).message;
        }
    }

    paste(): void {
        this.source = this.text ? ofText(this.text) : undefined;
        this.missing = this.text ? '' : 'Paste a text to learn from.';
        this.changed();
    }

    take(file: File): void {
        this.takeSource(ofBlob(file, file.name));
    }

    /** A text that was had somehow: it stands where a file would. */
    takeSource(source: Source): void {
        this.file = source;
        this.fileName = source.name;
        void this.use('file');
    }

    /** The settings and the text of a run that is there already. */
    async adopt(settings: Settings, source: Source): Promise<void> {
        await this.loading;
        this.settings = { ...settings };
        if (source.builtIn) await this.use('built-in');
        else this.takeSource(source);
    }

    /** Something is different: it is checked once it has been left alone for a moment. */
    changed(settle = SETTLE_MS): void {
        this.checking = true;
        this.turn++; // a check that is under way is of what it was before
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.check(), settle);
    }

    private async check(): Promise<void> {
        const turn = ++this.turn;
        const settings = this.settings;
        if (!settings) return;
        const problems = [...modelKnobs, ...runKnobs].flatMap((knob) => problemOf(knob, settings[knob.name]) ?? []);
        const size = this.source?.size ?? 0;
        let plan: Plan | undefined;
        if (problems.length === 0) {
            try {
                chooseModule(); // a browser that has none for any run says why
                const room = { memoryBytes: reachableBytes(), ...this.backend.limits };
                plan = await planRun({ ...runSettings(settings, size || 1 << 20), ...room });
                problems.push(...[await problemOfMemory(plan, this.presets, room)].filter(Boolean));
            } catch (error) {
                problems.push(inPlainWords((error as Error).message));
            }
        }
        if (this.missing) problems.push(this.missing);
        else if (size === 0) problems.push('The text is empty: choose another.');
        const odd = this.source && (await oddTextOf(this.source));
        if (turn !== this.turn) return;
        this.plan = plan;
        this.problems = problems;
        this.remarks = plan && size ? remarksOn(plan, size, settings) : [];
        if (plan && odd) this.remarks = [...this.remarks, odd];
        this.checking = false;
    }

    /** About how long the run would take; undefined while that is not known. */
    get seconds(): number | undefined {
        const { batch, ctx, steps } = this.settings ?? {};
        if (!this.plan || !this.gflops || !batch || !ctx || !steps) return undefined;
        return secondsOf(this.plan.params, batch * ctx, steps, this.gflops);
    }

    secondsOfPreset({ params, batch, ctx, steps }: Preset): number | undefined {
        return this.gflops && secondsOf(params, batch * ctx, steps, this.gflops);
    }
}

function remarksOn(plan: Plan, size: number, { ctx = 0, lr }: Settings): string[] {
    const remarks: string[] = [];
    if (!keepsAside(size, ctx))
        remarks.push('The text is too short to keep a tenth of it aside, so what is checked on the way is text the model has learned from.');
    const device = (navigator as { deviceMemory?: number }).deviceMemory;
    if (device && plan.bytes > (device * 2 ** 30) / 2)
        remarks.push(`This takes more than half of the ${device} GB that the browser says this machine has; the tab may be closed by it.`);
    if (lr === 0) remarks.push('With a learning rate of 0 nothing is learned.');
    else if (lr !== undefined && lr > BOLD_LR) remarks.push(`A learning rate above ${BOLD_LR} usually makes the loss jump about or become infinite.`);
    return remarks;
}
