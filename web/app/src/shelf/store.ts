/** The runs, in the worker: a folder for each, with its text, its name where it was renamed, and two slots (slots.ts). */
import type { FileChunk } from 'posttrain-engine';
import { fingerprint, openFile, put, readFile, readText, remove, sha256, writeFile, type SyncHandle } from './files';
import { whileFree } from './lock';
import type { Calls, Kept, Listed, Unreadable } from './protocol';
import { readRecord, type RunRecord } from './record';
import { nextNumber, readSeal, slotFiles, slots, toRead, toWrite, type Seal, type Seals, type Slot, type SlotFile } from './slots';

const CORPUS = 'corpus';
const NAME = 'name';
const GONE = 'deleted';
const SEAL = 'seal.json';

type Folder = FileSystemDirectoryHandle;

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

async function runsFolder(): Promise<Folder> {
    const root = await navigator.storage.getDirectory();
    return root.getDirectoryHandle('runs', { create: true });
}

async function* runFolders(): AsyncGenerator<[string, Folder]> {
    for await (const [id, run] of (await runsFolder()).entries()) if (run.kind === 'directory') yield [id, run as Folder];
}

async function runFolder(id: string, create = false): Promise<Folder> {
    const folder = (await runsFolder()).getDirectoryHandle(id, { create });
    return folder.catch((error: unknown) => {
        throw (error as DOMException).name === 'NotFoundError' ? new Error('the run is not here any more') : error;
    });
}

async function slotOf(run: Folder, slot: Slot): Promise<Folder | undefined> {
    return run.getDirectoryHandle(slot).catch(() => undefined);
}

async function sealsOf(run: Folder): Promise<Seals> {
    const seals: Seals = { a: undefined, b: undefined };
    for (const slot of slots) {
        const folder = await slotOf(run, slot);
        if (folder) seals[slot] = readSeal(await readText(folder, SEAL));
    }
    return seals;
}

/** Saves that were finished, but for the last byte perhaps, and whose seal says nothing. */
async function unsealed(run: Folder, seals: Seals): Promise<Slot[]> {
    const found: Slot[] = [];
    for (const slot of slots) {
        const folder = seals[slot] ? undefined : await slotOf(run, slot);
        if (folder && (await readFile(folder, SEAL))) found.push(slot);
    }
    return found;
}

async function isWhole(folder: Folder, seal: Seal, name: SlotFile): Promise<File | undefined> {
    const file = await readFile(folder, name);
    const { bytes, print } = seal.files[name];
    return file?.size === bytes && (await fingerprint(file)) === print ? file : undefined;
}

async function recordOf(run: Folder, slot: Slot, seal: Seal): Promise<RunRecord | 'newer' | undefined> {
    const file = await isWhole(await run.getDirectoryHandle(slot), seal, 'record.json');
    const record = file && readRecord(await file.text());
    if (!record || record === 'newer') return record;
    const name = await readText(run, NAME);
    return { ...record, name: name || record.name };
}

/** Something was saved once, whether it can be read or not. */
async function isRun(run: Folder): Promise<boolean> {
    const seals = await sealsOf(run);
    return toRead(seals).length > 0 || (await unsealed(run, seals)).length > 0;
}

async function bytesIn(folder: Folder): Promise<number> {
    let bytes = 0;
    for await (const entry of folder.values()) bytes += entry.kind === 'directory' ? await bytesIn(entry as Folder) : (await (entry as FileSystemFileHandle).getFile()).size;
    return bytes;
}

/** The save that is under way. */
interface Save {
    run: Folder;
    slot: Slot;
    folder: Folder;
    seals: Seals;
    model: SyncHandle;
    /** Why a piece could not be written: then there is no commit. */
    failure: unknown;
}

export class Store {
    private save: Save | undefined;

    async list(): Promise<Calls['list']['result']> {
        const runs: Listed[] = [];
        const unreadable: Unreadable[] = [];
        for await (const [id, run] of runFolders()) {
            if (await readFile(run, GONE)) continue;
            const record = await this.newest(run).catch(() => undefined);
            if (record && record !== 'newer' && record.id === id) runs.push({ record, bytes: await bytesIn(run).catch(() => 0) });
            else if (await isRun(run)) await whileFree(id, async () => void unreadable.push({ id, bytes: await bytesIn(run), newer: record === 'newer' }));
        }
        return { runs: runs.sort((x, y) => y.record.saved.localeCompare(x.record.saved)), unreadable };
    }

    private async newest(run: Folder): Promise<RunRecord | 'newer' | undefined> {
        const seals = await sealsOf(run);
        let record: RunRecord | 'newer' | undefined;
        for (const slot of toRead(seals)) record ??= await recordOf(run, slot, seals[slot]!);
        return record;
    }

    async text(id: string, text: Blob, keep: boolean): Promise<string> {
        if (keep) {
            const run = await runFolder(id, true);
            await writeFile(run, CORPUS, text).catch(async (error: unknown) => {
                await remove(run, CORPUS);
                throw error;
            });
        }
        return sha256(text);
    }

    async begin(id: string): Promise<void> {
        this.abandon();
        const run = await runFolder(id, true);
        const seals = await sealsOf(run);
        const slot = toWrite(seals);
        await remove(run, slot); // the seal goes with it
        const folder = await run.getDirectoryHandle(slot, { create: true });
        this.save = { run, slot, folder, seals: { ...seals, [slot]: undefined }, model: await openFile(folder, 'model.tinygpt'), failure: undefined };
        this.save.model.truncate(0); // where the slot could not be removed
    }

    write({ position, data }: FileChunk): void {
        const save = this.save;
        if (!save || save.failure) return;
        try {
            if (position === 0) save.model.truncate(0); // it begins, perhaps anew
            put(save.model, position, data);
        } catch (error) {
            save.failure = error;
        }
    }

    async commit(record: RunRecord, curve: Float64Array<ArrayBuffer>): Promise<number> {
        const save = this.save;
        if (!save) throw new Error('no save was begun');
        if (save.failure) throw save.failure;
        save.model.flush();
        this.abandon();
        await writeFile(save.folder, 'curve.f64', new Uint8Array(curve.buffer));
        await writeFile(save.folder, 'record.json', bytesOf(record));
        const seal: Seal = { number: nextNumber(save.seals), step: record.step, files: {} as Seal['files'] };
        for (const name of slotFiles) {
            const file = await readFile(save.folder, name);
            if (!file) throw new Error(`${name} is gone`);
            seal.files[name] = { bytes: file.size, print: await fingerprint(file) };
        }
        await writeFile(save.folder, SEAL, bytesOf(seal));
        return slotFiles.reduce((n, name) => n + seal.files[name].bytes, 0);
    }

    /** The slot is left without a seal, and so without meaning; its room is given back. */
    async abort(): Promise<void> {
        const save = this.save;
        this.abandon();
        if (save) await remove(save.run, save.slot);
    }

    private abandon(): void {
        this.save?.model.close();
        this.save = undefined;
    }

    async read(id: string): Promise<Kept> {
        const run = await runFolder(id);
        const seals = await sealsOf(run);
        const broken = await unsealed(run, seals);
        const damaged: Slot[] = [];
        for (const slot of toRead(seals)) {
            const kept = await this.readSlot(run, slot, seals[slot]!);
            if (kept) {
                // The next save must go over the damaged one, not over this.
                for (const bad of damaged) await remove(await run.getDirectoryHandle(bad), SEAL);
                for (const bad of broken) await remove(await run.getDirectoryHandle(bad), SEAL);
                const instead = `damaged. The one of step ${kept.record.step} was opened instead.`;
                const told = damaged.map((bad) => `the newest save, of step ${seals[bad]!.step}, is ${instead}`);
                return { ...kept, told: [...told, ...broken.map(() => `another save is ${instead}`)] };
            }
            damaged.push(slot);
        }
        throw new Error('it is damaged: neither of its two saves can be read');
    }

    private async readSlot(run: Folder, slot: Slot, seal: Seal): Promise<Omit<Kept, 'told'> | undefined> {
        const folder = await run.getDirectoryHandle(slot);
        const record = await recordOf(run, slot, seal);
        if (record === 'newer') throw new Error('a newer version of this page saved it: reload the page to open it');
        const model = await isWhole(folder, seal, 'model.tinygpt');
        const curve = await isWhole(folder, seal, 'curve.f64');
        if (!record || !model || !curve) return undefined;
        return { record, model, corpus: await this.corpusOf(run, record), curve: new Float64Array(await curve.arrayBuffer()) };
    }

    private async corpusOf(run: Folder, { corpus }: RunRecord): Promise<File | undefined> {
        const file = corpus.builtIn ? undefined : await readFile(run, CORPUS);
        return file?.size === corpus.bytes && (await sha256(file)) === corpus.sha256 ? file : undefined;
    }

    async model(id: string): Promise<Calls['model']['result']> {
        const run = await runFolder(id);
        const seals = await sealsOf(run);
        for (const slot of toRead(seals)) {
            const model = await isWhole(await run.getDirectoryHandle(slot), seals[slot]!, 'model.tinygpt');
            if (model) return { model, proved: true };
        }
        for (const slot of await unsealed(run, seals)) {
            const model = await readFile(await run.getDirectoryHandle(slot), 'model.tinygpt');
            if (model) return { model, proved: false };
        }
        throw new Error('neither of its two saves has a whole model');
    }

    async rename(id: string, name: string): Promise<void> {
        await writeFile(await runFolder(id), NAME, new TextEncoder().encode(name));
    }

    async discard(id: string, gone: boolean): Promise<void> {
        const run = await runFolder(id);
        if (gone) await writeFile(run, GONE, new Uint8Array([1]));
        else await remove(run, GONE);
    }

    async sweep(): Promise<void> {
        const runs = await runsFolder();
        for await (const [id, run] of runFolders()) {
            const gone = (await readFile(run, GONE)) !== undefined;
            if (gone || !(await isRun(run))) await whileFree(id, () => remove(runs, id));
        }
    }
}
