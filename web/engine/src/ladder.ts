/** The ladder: every way to multiply matrices here, timed at one size after another. */
import type { Abi } from './abi.js';
import type { GpuInUse } from './gpu_in_use.js';
import type { LadderSettings } from './protocol.js';
import { EngineError, type Kernel, type Rung, type Timing } from './types.js';

const SLICE_MS = 15;
const PROCESSOR = 'processor';
/** As in square.h. */
const LINEAR = -1;
const MOST_SIZE = 2 ** 14;
/** A single product may not take longer: a GPU draws nothing meanwhile, and the worker hears nothing. */
const MOST_SECONDS = { webgpu: 0.3, cpu: 1 };
/** Small enough to be tried on anything. */
const SAFE_SIZE = 512;

type Way = Kernel & { index: number };

/** After which errors of a kernel the others are still measured. */
const OF_A_KERNEL = ['UNSUPPORTED', 'INTERNAL'];

/** Every way at every size, smaller sizes first. `time` times one; what takes too long for it is foreseen from a smaller size. */
export async function* climb<W extends Kernel>(ways: W[], sizes: number[], time: (way: W, size: number) => Promise<Timing>): AsyncGenerator<Rung> {
    const known = new Map<W, { size: number; seconds: number }>();
    /** Why nothing more is asked of a kernel, or of a device without memory. */
    const over = new Map<W | Kernel['device'], string>();
    const timed = async (way: W, size: number) => {
        const timing = await time(way, size);
        known.set(way, { size, seconds: timing.seconds });
        return timing;
    };
    const foresee = async (way: W, size: number) => {
        if (!known.has(way) && size > SAFE_SIZE) await timed(way, SAFE_SIZE);
        const last = known.get(way);
        return last ? last.seconds * (size / last.size) ** 3 : 0;
    };
    const rung = async (way: W, size: number): Promise<Timing | { why: string }> => {
        if (way.lacks) return { why: `it needs ${way.lacks}, which this GPU lacks` };
        const why = over.get(way) ?? over.get(way.device);
        if (why) return { why };
        try {
            const seconds = await foresee(way, size);
            if (seconds > MOST_SECONDS[way.device]) return { why: `a single product would take about ${Number(seconds.toPrecision(2))} s` };
            return await timed(way, size);
        } catch (error) {
            if (!(error instanceof EngineError)) throw error;
            if (error.status === 'NO_MEMORY') over.set(way.device, error.message);
            else if (OF_A_KERNEL.includes(error.status)) over.set(way, error.message);
            else throw error;
            return { why: error.message };
        }
    };
    for (const size of sizes.toSorted((a, b) => a - b))
        for (const way of ways) yield { kernel: way.name, size, ...(await rung(way, size)) };
}

export class Ladder {
    private readonly engine: () => Abi;
    private readonly gpu: GpuInUse;
    private stops = 0;

    constructor(engine: () => Abi, gpu: GpuInUse) {
        this.engine = engine;
        this.gpu = gpu;
    }

    kernels(): Kernel[] {
        return this.ways().map(({ index: _, ...kernel }) => kernel);
    }

    private ways(): Way[] {
        const kernels = this.engine().call('kernels') as Pick<Kernel, 'name' | 'lacks'>[];
        return [...kernels.map((kernel, index) => ({ ...kernel, device: 'webgpu' as const, index })), { name: PROCESSOR, device: 'cpu', index: LINEAR }];
    }

    /** Another takes the engine: what is under way ends, and what waits for its turn. */
    stop(): void {
        this.stops++;
    }

    /** Whether another took the engine since. */
    watch(): () => boolean {
        const before = this.stops;
        return () => this.stops !== before;
    }

    /** Tells each rung, until there is a reason to end. */
    async climb({ kernels, sizes }: LadderSettings, tell: (rung: Rung) => void, whyEnd: () => string): Promise<void> {
        const ways = this.ways();
        if (!Array.isArray(sizes) || !(kernels === undefined || Array.isArray(kernels))) throw new EngineError('BAD_INPUT', 'sizes and kernels must be lists');
        for (const name of kernels ?? [])
            if (!ways.some((way) => way.name === name)) throw new EngineError('BAD_INPUT', `there is no kernel '${name}' here; there are ${ways.map((way) => way.name).join(', ')}`);
        for (const size of sizes)
            if (!Number.isInteger(size) || size < 1 || size > MOST_SIZE) throw new EngineError('BAD_INPUT', `a size is ${size}, it must be a whole number from 1 to ${MOST_SIZE}`);
        const wanted = ways.filter(({ name }) => kernels?.includes(name) ?? true);
        try {
            for await (const rung of climb(wanted, sizes, (way, size) => this.time(way, size, whyEnd))) tell(rung);
        } finally {
            this.engine().endLadder();
        }
    }

    private async time({ index }: Way, size: number, whyEnd: () => string): Promise<Timing> {
        try {
            this.engine().call('ladder', index, size);
            await this.gpu.now?.allocated();
            return await this.poll(size, whyEnd);
        } catch (error) {
            if (this.gpu.failed) await this.gpu.renew();
            throw error;
        }
    }

    private async poll(size: number, whyEnd: () => string): Promise<Timing> {
        for (;;) {
            if (whyEnd()) this.engine().call('ladder_stop');
            const { again, waits, result } = this.engine().poll('ladder_poll', SLICE_MS);
            const timing = result as Omit<Timing, 'gflops'>;
            if (!again && timing.blocks) return { ...timing, gflops: (2 * size ** 3) / timing.seconds / 1e9 };
            if (!again) throw new EngineError('INTERRUPTED', whyEnd());
            await this.gpu.rest(waits);
        }
    }
}
