/** One tab at a time has a run open. The browser frees the lock of a tab that goes away. */

export function lockName(id: string): string {
    return `posttrain run ${id}`;
}

/** What gives it back; undefined when another tab has it. */
export function hold(id: string): Promise<(() => void) | undefined> {
    return new Promise((resolve, reject) => {
        navigator.locks
            .request(lockName(id), { ifAvailable: true }, (lock) => {
                if (!lock) return resolve(undefined);
                return new Promise<void>((release) => resolve(release));
            })
            .catch(reject);
    });
}

/** Runs the work unless another tab, or this one, has the run open; whether it ran. */
export async function whileFree(id: string, work: () => Promise<void>): Promise<boolean> {
    return navigator.locks.request(lockName(id), { ifAvailable: true }, async (lock) => {
        if (lock) await work();
        return lock !== null;
    });
}
