/** Files of the browser's private file system, as a worker sees them: written at once, and proved by reading them again. */

const PIECE = 4 << 20;

export interface SyncHandle {
    read(buffer: Uint8Array, options: { at: number }): number;
    write(buffer: Uint8Array, options: { at: number }): number;
    truncate(size: number): void;
    flush(): void;
    close(): void;
}

export async function openFile(folder: FileSystemDirectoryHandle, name: string): Promise<SyncHandle> {
    const file = (await folder.getFileHandle(name, { create: true })) as FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncHandle> };
    return file.createSyncAccessHandle();
}

function same(x: Uint8Array, y: Uint8Array): boolean {
    for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
    return true;
}

/** Writes, and reads again what was written. */
export function put(handle: SyncHandle, at: number, bytes: Uint8Array): void {
    const written = handle.write(bytes, { at });
    if (written !== bytes.length) throw new DOMException(`${written} of ${bytes.length} bytes were written`, 'QuotaExceededError');
    const again = new Uint8Array(bytes.length);
    handle.read(again, { at });
    if (!same(again, bytes)) throw new Error('the storage gave back other bytes than were written');
}

/** The whole file; in pieces, where it is a blob. */
export async function writeFile(folder: FileSystemDirectoryHandle, name: string, content: Uint8Array | Blob): Promise<void> {
    const handle = await openFile(folder, name);
    try {
        handle.truncate(0);
        if (content instanceof Blob) {
            for (let at = 0; at < content.size; at += PIECE) put(handle, at, new Uint8Array(await content.slice(at, at + PIECE).arrayBuffer()));
        } else {
            put(handle, 0, content);
        }
        handle.flush();
    } finally {
        handle.close();
    }
}

export async function readFile(folder: FileSystemDirectoryHandle, name: string): Promise<File | undefined> {
    return folder.getFileHandle(name).then((handle) => handle.getFile(), () => undefined);
}

export async function readText(folder: FileSystemDirectoryHandle, name: string): Promise<string> {
    const file = await readFile(folder, name);
    return file ? file.text() : '';
}

export async function remove(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
    await folder.removeEntry(name, { recursive: true }).catch(() => undefined);
}

export function hex(bytes: ArrayBuffer): string {
    return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** SHA-256 of the SHA-256s of its pieces: a file of any size is proved in little memory. */
export async function fingerprint(file: Blob): Promise<string> {
    const sums: ArrayBuffer[] = [];
    for (let at = 0; at < file.size; at += PIECE) sums.push(await crypto.subtle.digest('SHA-256', await file.slice(at, at + PIECE).arrayBuffer()));
    return hex(await crypto.subtle.digest('SHA-256', await new Blob(sums).arrayBuffer()));
}

/** As `sha256sum` prints it. */
export async function sha256(file: Blob): Promise<string> {
    return hex(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
}
