/** The text to learn from: held by the page as briefly as it can be, and given to the engine in pieces. */
import { sha256 } from '../shelf/files';

const PIECE = 4 << 20;
const CORPUS = './moby-dick.txt';

export interface Source {
    name: string;
    size: number;
    /** It comes with the page. */
    builtIn: boolean;
    blob: Blob;
    pieces(): AsyncIterable<Uint8Array>;
}

export function ofText(text: string): Source {
    return ofBlob(new Blob([text]), 'your text');
}

/** A file, or bytes that were fetched. It is read again at each start. */
export function ofBlob(blob: Blob, name: string, builtIn = false): Source {
    return {
        name,
        size: blob.size,
        builtIn,
        blob,
        pieces: async function* () {
            for (let at = 0; at < blob.size; at += PIECE) yield await pieceOf(blob, name, at);
        },
    };
}

async function pieceOf(blob: Blob, name: string, at: number): Promise<Uint8Array> {
    try {
        return new Uint8Array(await blob.slice(at, at + PIECE).arrayBuffer());
    } catch (error) {
        if ((error as DOMException).name === 'NotFoundError' || (error as DOMException).name === 'NotReadableError')
            throw new Error(`${name || 'The file'} cannot be read: it was changed, moved or deleted since it was chosen. Choose it again.`);
        throw error;
    }
}

let book: Promise<Source> | undefined;

/** Fetched once. */
export function builtIn(): Promise<Source> {
    book ??= fetchBook();
    book.catch(() => (book = undefined));
    return book;
}

async function fetchBook(): Promise<Source> {
    const response = await fetch(CORPUS).catch(() => undefined);
    if (!response?.ok) throw new Error('Moby-Dick is not on this server: paste a text or choose a file.');
    return ofBlob(await response.blob(), 'Moby-Dick', true);
}

/** SHA-256 of all its bytes, in hexadecimal. */
export async function fingerprintOf(source: Source): Promise<string> {
    return sha256(source.blob);
}

/** How much of a text shows whether it is one. */
const GLANCE = 64 << 10;

/** A sentence where the bytes are hardly a text: text has no zero bytes. Undefined where they may be one, or cannot be read now. */
export async function oddTextOf({ name, blob }: Source): Promise<string | undefined> {
    const begin = await blob.slice(0, GLANCE).arrayBuffer().catch(() => undefined);
    if (!begin || !new Uint8Array(begin).includes(0)) return undefined;
    return `${name} has zero bytes, so it is hardly plain text (a picture, a program, an archive, UTF-16?): the model will learn and write such bytes.`;
}
