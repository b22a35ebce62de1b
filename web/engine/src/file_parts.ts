import type { FileChunk } from './types.js';

/** A file from its pieces; one that begins anew replaces what was there. */
export class FileParts {
    private parts: FileChunk[] = [];

    add(chunk: FileChunk): void {
        if (chunk.position === 0) this.parts = [];
        this.parts.push(chunk);
    }

    /** Whether the file was heard from its first byte. */
    get begun(): boolean {
        return this.parts[0]?.position === 0;
    }

    /** In the order that they came. */
    [Symbol.iterator](): Iterator<FileChunk> {
        return this.parts.values();
    }

    get size(): number {
        return this.parts.reduce((n, p) => Math.max(n, p.position + p.data.length), 0);
    }

    bytes(): Uint8Array<ArrayBuffer> {
        const whole = new Uint8Array(this.size);
        for (const { position, data } of this.parts) whole.set(data, position);
        return whole;
    }
}
