/** One tab at a time has a run open. The browser frees the lock of a tab that goes away. */

export function lockName(id: string): string {
    return `posttrain run ${id}`;
}

/** A tab that was just closed or reloaded, and whoever looks at the shelf, may have a lock a moment longer. */
const PATIENCE_MS = 1000;

/** What gives it back; undefined when another tab has it, and does not let it go in a moment. */
export function hold(id: string): Promise<(() => void) | undefined> {
    return new Promise((resolve, reject) => {
        navigator.locks
            .request(lockName(id), { signal: AbortSignal.timeout(PATIENCE_MS) }, () => new Promise<void>((release) => resolve(release)))
            .catch((error: DOMException) => (error.name === 'TimeoutError' ? resolve(undefined) : reject(error)));
    });
}

/** Another tab has the run open. */
export class Taken extends Error {
    private readonly id: string;
    constructor(id: string) {
        super('It is open in another tab: close it there first.');
        this.id = id;
    }

    /** Resolves when no tab has it any more. */
    async over(): Promise<void> {
        await navigator.locks.request(lockName(this.id), { mode: 'shared' }, () => undefined);
    }
}

/** Runs the work unless another tab, or this one, has the run open; whether it ran. */
export async function whileFree(id: string, work: () => Promise<void>): Promise<boolean> {
    return navigator.locks.request(lockName(id), { ifAvailable: true }, async (lock) => {
        if (lock) await work();
        return lock !== null;
    });
}
