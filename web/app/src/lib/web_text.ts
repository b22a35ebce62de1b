/** A text from an address that the visitor gave, as it streams in. No other request of this page leaves its server. */
import { bytes } from './format';
import { ofBlob, type Source } from './source';

const MOST_BYTES = 1e9;
const ADVICE = 'Download it yourself, then choose it under “A file”.';

export function addressOf(text: string): URL {
    let url: URL;
    try {
        url = new URL(text.trim());
    } catch {
        throw new Error('This is no address: it begins with https://, then comes a host and a path.');
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`An address of a text begins with https://, not ${url.protocol}.`);
    if (url.protocol === 'http:' && location.protocol === 'https:') throw new Error(`A page that comes over https may not read http://. Try https://, or: ${ADVICE}`);
    return url;
}

/** The last part of its path, in plain letters where it can be read so. */
function nameOf({ pathname, host }: URL): string {
    const last = pathname.split('/').at(-1) || host;
    try {
        return decodeURIComponent(last).slice(0, 80);
    } catch {
        return last.slice(0, 80);
    }
}

async function request(url: URL, signal: AbortSignal): Promise<Response> {
    try {
        return await fetch(url, { signal, credentials: 'omit', referrerPolicy: 'no-referrer', mode: 'cors' });
    } catch (error) {
        if (signal.aborted) throw error;
        if (!navigator.onLine) throw new Error(`This machine is not connected to the network. ${ADVICE}`);
        throw new Error(`${url.host} cannot be reached, or does not let other pages read this text (it sends no CORS permission). ${ADVICE}`);
    }
}

export async function fetchText(address: string, onBytes: (bytes: number, of: number | undefined) => void, signal: AbortSignal): Promise<Source> {
    const url = addressOf(address);
    const response = await request(url, signal);
    if (!response.ok || !response.body) throw new Error(`${url.host} answers ${response.status} ${response.statusText}. Look whether the address is right. `.trim());
    const announced = Number(response.headers.get('Content-Length')) || undefined;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    try {
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
            size += piece.length;
            if (Math.max(size, announced ?? 0) > MOST_BYTES) throw new RangeError(`It is larger than the ${bytes(MOST_BYTES)} that a page can hold. ${ADVICE}`);
            pieces.push(piece);
            onBytes(size, announced);
        }
    } catch (error) {
        if (signal.aborted || error instanceof RangeError) throw error;
        throw new Error(`The connection to ${url.host} broke after ${bytes(size)}. Try again, or: ${ADVICE}`);
    }
    return ofBlob(new Blob(pieces), nameOf(url));
}
