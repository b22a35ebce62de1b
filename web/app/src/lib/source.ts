/** The text to learn from: held by the page as briefly as it can be, and given to the engine in pieces. */
const PIECE = 4 << 20;
const CORPUS = './moby-dick.txt';

export interface Source {
    name: string;
    size: number;
    pieces(): AsyncIterable<Uint8Array>;
}

export function ofText(text: string): Source {
    const bytes = new TextEncoder().encode(text);
    return {
        name: 'your text',
        size: bytes.length,
        pieces: async function* () {
            yield bytes;
        },
    };
}

/** A file, or bytes that were fetched. It is read again at each start. */
export function ofBlob(blob: Blob, name: string): Source {
    return {
        name,
        size: blob.size,
        pieces: async function* () {
            for (let at = 0; at < blob.size; at += PIECE)
                yield new Uint8Array(await blob.slice(at, at + PIECE).arrayBuffer());
        },
    };
}

export async function builtIn(): Promise<Source> {
    const response = await fetch(CORPUS).catch(() => undefined);
    if (!response?.ok) throw new Error('Moby-Dick is not on this server: paste a text or choose a file.');
    return ofBlob(await response.blob(), 'Moby-Dick');
}
