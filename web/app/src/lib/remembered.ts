/** Small things that the browser remembers for the page, of this tab or of all. Where it may keep nothing, they last as long as the page. */
const here = new Map<string, string>();

function storeOf(kind: 'tab' | 'all'): Storage {
    return kind === 'tab' ? sessionStorage : localStorage;
}

export function recall(kind: 'tab' | 'all', key: string): string | undefined {
    try {
        return storeOf(kind).getItem(key) ?? undefined;
    } catch {
        return here.get(key);
    }
}

/** Undefined: it is forgotten. */
export function remember(kind: 'tab' | 'all', key: string, value: string | undefined): void {
    try {
        if (value === undefined) storeOf(kind).removeItem(key);
        else storeOf(kind).setItem(key, value);
    } catch {
        if (value === undefined) here.delete(key);
        else here.set(key, value);
    }
}
